import { ageSince } from '../../../apimachinery/age.ts';
import {
  invalidCause,
  notSupportedCause,
  requiredCause,
  tooLongCause,
} from '../../../apimachinery/field-error.ts';
import { checkDns1123Subdomain } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn, none } from '../../columns.ts';
import { setPodTemplateDefaults } from '../../core/v1/pod/defaults.ts';
import { podNameWarnings } from '../../core/v1/pod/names.ts';
import { jobTemplateColumns } from './job-columns.ts';
import { validateJobSpec } from './job-validation.ts';
import { specWarnings } from './job-warnings.ts';
import { parseSchedule, ScheduleError } from './schedule.ts';
import { validateTimeZone } from './time-zone.ts';
import type { CronJob } from './types.gen.ts';

export type { CronJob } from './types.gen.ts';

/** Maximum length of a name: the names of Jobs append a hyphen and ten digits. */
const maxNameLength = 52;

function checkName(name: string): string[] {
  const tooLong = name.length > maxNameLength ? [`must be no more than ${maxNameLength} characters`] : [];
  return [...checkDns1123Subdomain(name), ...tooLong];
}

/**
 * Maximum length of a schedule. Every minute, hour, day and month listed by number takes about four hundred
 * characters; upstream has no maximum, and reads megabytes.
 */
const maxScheduleLength = 4096;

/** Validates a schedule, also of other kinds. */
export function validateSchedule(schedule: string, path: string): StatusCause[] {
  if (schedule === '') return [requiredCause(path)];
  if (schedule.length > maxScheduleLength) return [tooLongCause(path, maxScheduleLength)];
  // Any 'TZ' is rejected, not only `TZ=`, since upstream looks for the letters anywhere.
  if (schedule.includes('TZ'))
    return [invalidCause(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')];
  try {
    parseSchedule(schedule);
    return [];
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return [invalidCause(path, schedule, error.message)];
  }
}

/** Rejects a selector, since each Job gets one of its own. */
function validateNoSelector({
  selector,
  manualSelector,
}: CronJob['spec']['jobTemplate']['spec']): StatusCause[] {
  const path = 'spec.jobTemplate.spec';
  return [
    ...(selector ? [invalidCause(`${path}.selector`, selector, '`selector` will be auto-generated')] : []),
    ...(manualSelector
      ? [notSupportedCause(`${path}.manualSelector`, manualSelector, ['nil', 'false'])]
      : []),
  ];
}

const jobWarnings = specWarnings(({ spec }: CronJob) => spec.jobTemplate.spec, 'spec.jobTemplate.spec');

export const cronJobResource: ResourceDefinition<CronJob> = {
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  singular: 'cronjob',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  typeName: 'batch.v1.CronJob',
  rules: {
    'batch.v1.CronJob': {},
    'batch.v1.CronJobSpec': {
      defaults: {
        concurrencyPolicy: 'Allow',
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      },
      limits: {
        startingDeadlineSeconds: [0],
        successfulJobsHistoryLimit: [0],
        failedJobsHistoryLimit: [0],
      },
    },
    'batch.v1.JobTemplateSpec': { requires: 'spec', defaults: { metadata: {} } },
    'batch.v1.CronJobStatus': {},
  },
  strategy: {
    checkName,
    setDefaults: ({ spec }) => setPodTemplateDefaults(spec.jobTemplate.spec.template),
    validate: ({ spec }) => [
      ...validateSchedule(spec.schedule, 'spec.schedule'),
      ...(spec.timeZone === undefined ? [] : validateTimeZone(spec.timeZone, 'spec.timeZone')),
      ...validateJobSpec(spec.jobTemplate.spec, 'spec.jobTemplate.spec'),
      ...validateNoSelector(spec.jobTemplate.spec),
    ],
    warnings: (cronJob, old) => [...podNameWarnings(cronJob, old), ...jobWarnings(cronJob, old)],
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Schedule',
      type: 'string',
      description: 'The schedule of its Jobs.',
      cell: ({ spec }) => spec.schedule,
    },
    {
      name: 'Timezone',
      type: 'string',
      description: 'The time zone of the schedule.',
      cell: ({ spec }) => spec.timeZone ?? none,
    },
    {
      name: 'Suspend',
      type: 'boolean',
      description: 'Whether the creation of Jobs is suspended.',
      cell: ({ spec }) => (spec.suspend ? 'True' : 'False'),
    },
    {
      name: 'Active',
      type: 'integer',
      description: 'The number of its running Jobs.',
      cell: ({ status }) => status?.active?.length ?? 0,
    },
    {
      name: 'Last Schedule',
      type: 'string',
      description: 'Time since the last Job was made.',
      cell: ({ status }, now) => (status?.lastScheduleTime ? ageSince(status.lastScheduleTime, now) : none),
    },
    ageColumn,
    ...jobTemplateColumns<CronJob>(({ spec }) => spec.jobTemplate.spec),
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
