import { jobResource } from '../../../../src/api/batch/v1/job.ts';
import { merge, testStatus } from '../../../fixtures/kinds.ts';
import { head, spec, template } from '../../../fixtures/workloads.ts';

const job = merge(head('batch/v1', 'Job'), {
  metadata: { uid: '11111111-2222-3333-4444-555555555555' },
  spec: { template: merge(template, { spec: { restartPolicy: 'Never' } }) },
}) as Record<string, unknown>;
const indexed = merge(
  job,
  spec({ completionMode: 'Indexed', completions: 9, parallelism: 3, backoffLimitPerIndex: 1 }),
) as Record<string, unknown>;

const conditions = (...types: string[]) => ({ conditions: types.map((type) => ({ type, status: 'True' })) });
const start = '2026-03-01T12:00:00Z';
const end = '2026-03-01T12:05:00Z';
const started = { startTime: start, active: 1, ready: 1 };
const complete = {
  startTime: start,
  completionTime: end,
  succeeded: 1,
  ...conditions('SuccessCriteriaMet', 'Complete'),
};
const failed = { startTime: start, failed: 1, ...conditions('FailureTarget', 'Failed') };
const conditionFault = (why: string) => `status.conditions: Invalid value: ${why}`;

testStatus(jobResource, job, [
  ['begins', undefined, started],
  ['ends well', started, { ...complete, active: 0, ready: 0 }],
  ['ends badly', started, { ...failed, active: 0, ready: 0 }],
  ['stays', complete, {}],
  [
    'negative numbers',
    undefined,
    { active: -1, ready: -2, terminating: -1, succeeded: -1, failed: -1 },
    'status.active: Invalid value: -1: must be greater than or equal to 0',
    'status.ready: Invalid value: -2: must be greater than or equal to 0',
    'status.terminating: Invalid value: -1: must be greater than or equal to 0',
    'status.succeeded: Invalid value: -1: must be greater than or equal to 0',
    'status.failed: Invalid value: -1: must be greater than or equal to 0',
    'status.failed: Invalid value: -1: cannot decrease the failed counter',
    'status.succeeded: Invalid value: -1: cannot decrease the succeeded counter',
  ],
  [
    'uncounted pods with a duplicate and an empty uid',
    undefined,
    { uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] } },
    'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
    'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
  ],
  [
    'is complete and failed',
    started,
    {
      ...complete,
      active: 0,
      ready: 0,
      ...conditions('SuccessCriteriaMet', 'Complete', 'Failed', 'FailureTarget'),
    },
    conditionFault('cannot set Complete=True and Failed=true conditions'),
    conditionFault('cannot set Complete=True and FailureTarget=true conditions'),
    conditionFault('cannot set SuccessCriteriaMet=True and Failed=true conditions'),
    conditionFault('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'),
  ],
  [
    'fails without the condition FailureTarget',
    { startTime: start },
    conditions('Failed'),
    conditionFault('cannot set Failed=True condition without the FailureTarget=true condition'),
  ],
  [
    'completes without the condition SuccessCriteriaMet',
    { startTime: start },
    { completionTime: end, ...conditions('Complete') },
    conditionFault('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'),
  ],
  [
    'is no longer complete',
    complete,
    { completionTime: null, conditions: [] },
    conditionFault('cannot disable the terminal Complete=True condition'),
    conditionFault('cannot disable the SuccessCriteriaMet=True condition'),
  ],
  [
    'is no longer failed',
    failed,
    { conditions: [] },
    conditionFault('cannot disable the terminal Failed=True condition'),
    conditionFault('cannot disable the terminal FailureTarget=True condition'),
  ],
  [
    'has a completion time without being complete',
    started,
    { completionTime: end },
    `status.completionTime: Invalid value: "${end}": cannot set completionTime when there is no Complete=True condition`,
  ],
  [
    'is complete without a completion time',
    { startTime: start },
    conditions('SuccessCriteriaMet', 'Complete'),
    'status.completionTime: Required value: completionTime is required for Complete jobs',
  ],
  [
    'ends before it begins',
    { startTime: end },
    { ...complete, startTime: end, completionTime: start },
    `status.completionTime: Invalid value: "${start}": completionTime cannot be set before startTime`,
  ],
  [
    'ends at another time',
    complete,
    { completionTime: '2026-03-01T12:06:00Z' },
    'status.completionTime: Invalid value: "2026-03-01T12:06:00Z": completionTime cannot be mutated',
  ],
  [
    'ends without a start time',
    undefined,
    conditions('FailureTarget', 'Failed'),
    'status.startTime: Required value: startTime is required for finished job',
  ],
  [
    'has another start time',
    started,
    { startTime: end },
    'status.startTime: Required value: startTime cannot be removed for unsuspended job',
  ],
  [
    'ends while pods run',
    started,
    { ...failed, ready: 0, terminating: 2, uncountedTerminatedPods: { failed: ['a'] } },
    'status.active: Invalid value: 1: active>0 is invalid for finished job',
    'status.terminating: Invalid value: 2: terminating>0 is invalid for finished job',
    'status.uncountedTerminatedPods: Invalid value: {"failed":["a"]}: uncountedTerminatedPods needs to be empty',
  ],
  [
    'more ready pods than active ones',
    started,
    { ready: 2 },
    'status.ready: Invalid value: 2: cannot set more ready pods than active',
  ],
  [
    'decreased counts of failures and successes',
    { ...started, failed: 3, succeeded: 2 },
    { failed: 2, succeeded: 1 },
    'status.failed: Invalid value: 2: cannot decrease the failed counter',
    'status.succeeded: Invalid value: 1: cannot decrease the succeeded counter',
  ],
  [
    'indexes of a Job that is not indexed',
    undefined,
    { completedIndexes: '0', failedIndexes: '' },
    'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed',
    'status.failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
  ],
]);

testStatus(jobResource, indexed, [
  ['indexes', undefined, { completedIndexes: '0-2,5', failedIndexes: '3,6-7' }],
  [
    'invalid indexes',
    undefined,
    { completedIndexes: '9', failedIndexes: 'x' },
    'status.completedIndexes: Invalid value: "9": error parsing completedIndexes: too large index: "9"',
    'status.failedIndexes: Invalid value: "x": error parsing failedIndexes: cannot convert string to integer for index: "x"',
  ],
  [
    'indexes that are both completed and failed',
    { completedIndexes: '0,2-5' },
    { failedIndexes: '1,4-7' },
    'status.failedIndexes: Invalid value: "1,4-7": failedIndexes and completedIndexes overlap at index: 4',
  ],
  ['disjoint completed and failed indexes', undefined, { completedIndexes: '1,5', failedIndexes: '0,2-4,6' }],
  [
    'fewer successes',
    { succeeded: 2 },
    { succeeded: 1 },
    'status.succeeded: Invalid value: 1: cannot decrease the succeeded counter',
  ],
]);

testStatus(jobResource, merge(indexed, spec({ completions: 3 })) as Record<string, unknown>, [
  ['a decreased count of successes of an indexed Job', { succeeded: 3 }, { succeeded: 2 }],
]);

testStatus(
  jobResource,
  merge(indexed, spec({ successPolicy: { rules: [{ succeededCount: 1 }] } })) as Record<string, unknown>,
  [
    [
      'complete without the success policy being met',
      { startTime: start },
      { completionTime: end, ...conditions('Complete') },
      conditionFault('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'),
      conditionFault('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'),
    ],
  ],
);

testStatus(jobResource, merge(job, spec({ suspend: true })) as Record<string, unknown>, [
  ['is suspended', started, { startTime: null, active: 0, ready: 0, ...conditions('Suspended') }],
]);
