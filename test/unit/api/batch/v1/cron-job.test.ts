import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronJobResource } from '../../../../../src/api/batch/v1/cron-job.ts';
import { cells, created, merge, type Row, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';
import { head, spec, template } from '../../../../fixtures/workloads.ts';

const cronJob = {
  ...head('batch/v1', 'CronJob'),
  spec: {
    schedule: '*/5 * * * *',
    jobTemplate: { spec: { template: merge(template, { spec: { restartPolicy: 'Never' } }) } },
  },
};
const job = (fields: object) => spec({ jobTemplate: { spec: fields } });
const zone = (timeZone: string, ...problems: string[]): Row => [
  `time zone ${timeZone}`,
  spec({ timeZone }),
  ...problems,
];
const unknown = (timeZone: string) =>
  zone(timeZone, `spec.timeZone: Invalid value: "${timeZone}": unknown time zone ${timeZone}`);

testCreate(cronJobResource, cronJob, [
  ['a name of 52 characters', { metadata: { name: 'a'.repeat(52) } }],
  [
    'a name that leaves no room for the suffix of its Jobs',
    { metadata: { name: 'a'.repeat(53) } },
    `metadata.name: Invalid value: "${'a'.repeat(53)}": must be no more than 52 characters`,
  ],
  ['no schedule', spec({ schedule: null }), 'spec.schedule: Required value'],
  [
    'a schedule above the maximum length',
    spec({ schedule: `${'1,'.repeat(2044)}1 * * * *` }),
    'spec.schedule: Too long: may not be more than 4096 bytes',
  ],
  ['a schedule of the maximum length', spec({ schedule: `${'1,'.repeat(2043)}11 * * * *` })],
  ['an empty schedule', spec({ schedule: '' }), 'spec.schedule: Required value'],
  [
    'an invalid schedule',
    spec({ schedule: '* * *' }),
    'spec.schedule: Invalid value: "* * *": expected exactly 5 fields, found 3: [* * *]',
  ],
  [
    'a time zone in the schedule',
    spec({ schedule: 'TZ=UTC * * * * *' }),
    'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
  ],
  zone('Europe/Berlin'),
  zone('US/Pacific'),
  zone('UTC'),
  zone('America/Argentina/Rio_Gallegos'),
  [
    'time zone of 2 MB',
    spec({ timeZone: 'a/'.repeat(2 ** 20) }),
    `spec.timeZone: Invalid value: "${'a/'.repeat(32)}…": unknown time zone: a name has at most 64 characters, this one has 2097152`,
  ],
  zone('', 'spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'),
  zone(
    'Local',
    'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in',
  ),
  unknown('Mars/Olympus'),
  unknown('europe/berlin'),
  unknown('+01'),
  unknown('Europe//Berlin'),
  unknown('../Berlin'),
  unknown('-Berlin'),
  unknown('Europe/Ber:lin'),
  [
    'negative numbers',
    spec({ startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 }),
    'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
    'spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
    'spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'another policy',
    spec({ concurrencyPolicy: 'Queue' }),
    'spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"',
  ],
  [
    'a selector of its own',
    job({ selector: { matchLabels: { app: 'web' } }, manualSelector: true }),
    'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"app":"web"}}: `selector` will be auto-generated',
    'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
  ],
  [
    'a wrong job',
    job({ completions: -1 }),
    'spec.jobTemplate.spec.completions: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'pods with the restart policy Always',
    job({ template: { spec: { restartPolicy: 'Always' } } }),
    'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
  [
    'pods without a container name',
    job({ template: { spec: { containers: [{ image: 'x' }] } } }),
    'spec.jobTemplate.spec.template.spec.containers[0].name: Required value',
  ],
]);

testUpdate(cronJobResource, cronJob, [
  [
    'changed schedule, suspension and template',
    spec({ schedule: '@hourly', suspend: true, jobTemplate: { spec: { completions: 3 } } }),
  ],
  [
    'an invalid new schedule',
    spec({ schedule: 'x' }),
    'spec.schedule: Invalid value: "x": expected exactly 5',
  ],
]);

test('a CronJob gets its defaults, and its job template gets none', () => {
  const { spec: found } = created(cronJobResource, cronJob);
  const { jobTemplate, ...own } = found;
  assert.deepEqual(own, {
    schedule: '*/5 * * * *',
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  assert.deepEqual(jobTemplate.metadata, {});
  assert.deepEqual(Object.keys(jobTemplate.spec), ['template']);
  assert.equal(jobTemplate.spec.template.spec.containers[0]?.imagePullPolicy, 'IfNotPresent');
});

test('a CronJob has the columns of kubectl', () => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  const made = created(cronJobResource, cronJob);
  assert.deepEqual(cells(cronJobResource, made, now), {
    Name: 'web',
    Schedule: '*/5 * * * *',
    Timezone: '<none>',
    Suspend: 'False',
    Active: 0,
    'Last Schedule': '<none>',
    Age: '<unknown>',
    Containers: 'web',
    Images: 'nginx:1',
    Selector: '<none>',
  });
  const later = created(cronJobResource, merge(cronJob, spec({ suspend: true, timeZone: 'UTC' })));
  later.status = { active: [{ name: 'a' }, { name: 'b' }], lastScheduleTime: '2026-03-01T11:58:30Z' };
  const { Timezone, Suspend, Active, 'Last Schedule': last } = cells(cronJobResource, later, now);
  assert.deepEqual([Timezone, Suspend, Active, last], ['UTC', 'True', 2, '90s']);
});
