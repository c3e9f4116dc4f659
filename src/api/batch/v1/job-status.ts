/** Rules of a Job's status. They also apply to external controllers (`managedBy`). */
import { deepEqual } from '../../../apimachinery/equality.ts';
import {
  duplicateCause,
  invalidCause,
  invalidTogetherCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateCounts } from '../../status-counts.ts';
import { hasCondition, isFinished, type JobConditionType } from './job-conditions.ts';
import { sharedIndex } from './job-indexes.ts';
import { indexesCause } from './job-policies.ts';
import type { Job, JobSpec, JobStatus } from './types.gen.ts';

/**
 * Validates a status update. Rules about unchanged fields are not applied: the specification may have changed
 * since.
 */
export function validateJobStatus(job: Job, old: Job): StatusCause[] {
  const { status = {} } = job;
  return [
    ...validateCounts(status),
    ...validateUncounted(status),
    ...validateConditions(job, old),
    ...validateTimes(job, old),
    ...validatePods(job, old),
    ...validateIndexes(job, old),
  ];
}

function changes(job: Job, old: Job) {
  const isOther = (...fields: (keyof JobStatus)[]) =>
    fields.some((field) => !deepEqual(job.status?.[field], old.status?.[field]));
  const flips = (...types: JobConditionType[]) =>
    types.some((type) => hasCondition(job, type) !== hasCondition(old, type));
  return { isOther, flips, ends: isFinished(job) !== isFinished(old) };
}

function validateUncounted({ uncountedTerminatedPods }: JobStatus): StatusCause[] {
  const seen = new Set<string>();
  return (['succeeded', 'failed'] as const).flatMap((list) =>
    (uncountedTerminatedPods?.[list] ?? []).flatMap((uid, index) => {
      const path = `status.uncountedTerminatedPods.${list}[${index}]`;
      if (uid === '') return [invalidCause(path, uid, 'must not be empty')];
      if (seen.has(uid)) return [duplicateCause(path, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

function validateConditions(job: Job, old: Job): StatusCause[] {
  const { flips, isOther } = changes(job, old);
  const has = (type: JobConditionType) => hasCondition(job, type);
  const had = (type: JobConditionType) => hasCondition(old, type);
  const lost = (type: JobConditionType) => had(type) && !has(type);
  const success = has('SuccessCriteriaMet');
  const faults: [found: boolean, why: string][] = [
    [
      flips('Complete', 'Failed') && has('Complete') && has('Failed'),
      'cannot set Complete=True and Failed=true conditions',
    ],
    [
      flips('Complete', 'FailureTarget') && has('Complete') && has('FailureTarget'),
      'cannot set Complete=True and FailureTarget=true conditions',
    ],
    [
      (flips('Failed') || isOther('failedIndexes')) && has('Failed') && !has('FailureTarget'),
      'cannot set Failed=True condition without the FailureTarget=true condition',
    ],
    [
      flips('Complete', 'SuccessCriteriaMet') && has('Complete') && !success,
      'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    ],
    [success && has('Failed'), 'cannot set SuccessCriteriaMet=True and Failed=true conditions'],
    [success && has('FailureTarget'), 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'],
    [
      job.spec.successPolicy !== undefined && !success && has('Complete'),
      'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True',
    ],
    ...(['Failed', 'Complete', 'FailureTarget'] as const).map((type): [boolean, string] => [
      lost(type),
      `cannot disable the terminal ${type}=True condition`,
    ]),
    [lost('SuccessCriteriaMet'), 'cannot disable the SuccessCriteriaMet=True condition'],
    [
      had('Complete') && !had('SuccessCriteriaMet') && success,
      'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions',
    ],
  ];
  return faults.filter(([found]) => found).map(([, why]) => invalidTogetherCause('status.conditions', why));
}

const completionPath = 'status.completionTime';

/** A Job has a completionTime exactly if it is Complete. */
function validatePresenceOfCompletionTime(job: Job, old: Job): StatusCause[] {
  const completionTime = job.status?.completionTime;
  const { isOther, flips } = changes(job, old);
  const isComplete = hasCondition(job, 'Complete');
  if (!flips('Complete') && !isOther('completionTime')) return [];
  if (completionTime !== undefined && !isComplete) {
    const why = 'cannot set completionTime when there is no Complete=True condition';
    return [invalidCause(completionPath, completionTime, why)];
  }
  if (completionTime === undefined && isComplete)
    return [requiredCause(completionPath, 'completionTime is required for Complete jobs')];
  return [];
}

function validateTimes(job: Job, old: Job): StatusCause[] {
  const { startTime, completionTime } = job.status ?? {};
  const { isOther, ends } = changes(job, old);
  const path = completionPath;
  const causes = validatePresenceOfCompletionTime(job, old);
  if (isOther('startTime', 'completionTime') && startTime && completionTime && completionTime < startTime)
    causes.push(invalidCause(path, completionTime, 'completionTime cannot be set before startTime'));
  if (completionTime && old.status?.completionTime && isOther('completionTime'))
    causes.push(invalidCause(path, completionTime, 'completionTime cannot be mutated'));
  if ((ends || isOther('startTime')) && startTime === undefined && isFinished(job))
    causes.push(requiredCause('status.startTime', 'startTime is required for finished job'));
  if (old.status?.startTime && isOther('startTime') && !job.spec.suspend)
    causes.push(requiredCause('status.startTime', 'startTime cannot be removed for unsuspended job'));
  return causes;
}

function validatePods(job: Job, old: Job): StatusCause[] {
  const { active = 0, ready = 0 } = job.status ?? {};
  const causes = isFinished(job) ? validateRemainingPods(job, old) : [];
  if (changes(job, old).isOther('ready', 'active') && ready > active)
    causes.push(invalidCause('status.ready', ready, 'cannot set more ready pods than active'));
  return [...causes, ...validateCounters(job, old)];
}

/** Validates that a finished Job has no pods left, neither running nor to be counted. */
function validateRemainingPods(job: Job, old: Job): StatusCause[] {
  const { status = {} } = job;
  const { isOther, ends } = changes(job, old);
  const causes: StatusCause[] = [];
  for (const field of ['active', 'terminating'] as const) {
    const count = status[field] ?? 0;
    if ((ends || isOther(field)) && count > 0)
      causes.push(invalidCause(`status.${field}`, count, `${field}>0 is invalid for finished job`));
  }
  const { uncountedTerminatedPods: uncounted } = status;
  if ((ends || isOther('uncountedTerminatedPods')) && hasUncounted(uncounted)) {
    const why = 'uncountedTerminatedPods needs to be empty for finished job';
    causes.push(invalidCause('status.uncountedTerminatedPods', uncounted, why));
  }
  return causes;
}

const hasUncounted = ({ failed = [], succeeded = [] }: JobStatus['uncountedTerminatedPods'] = {}) =>
  failed.length + succeeded.length > 0;

/** Validates that the counters of ended pods do not decrease. */
function validateCounters({ spec, status = {} }: Job, { status: old = {} }: Job): StatusCause[] {
  const { failed = 0, succeeded = 0 } = status;
  const causes: StatusCause[] = [];
  if (failed < (old.failed ?? 0))
    causes.push(invalidCause('status.failed', failed, 'cannot decrease the failed counter'));
  // An Indexed Job may be scaled down.
  const mayShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (!mayShrink && succeeded < (old.succeeded ?? 0))
    causes.push(invalidCause('status.succeeded', succeeded, 'cannot decrease the succeeded counter'));
  return causes;
}

function validateIndexes(job: Job, old: Job): StatusCause[] {
  const { spec, status = {} } = job;
  const { completedIndexes = '', failedIndexes } = status;
  const { isOther } = changes(job, old);
  const [completed, failed] = [isOther('completedIndexes'), isOther('failedIndexes')];
  const causes = completed ? validateCompletedIndexes(completedIndexes, spec) : [];
  if (failedIndexes === undefined) return causes;
  if (failed) causes.push(...validateFailedIndexes(failedIndexes, spec));
  const both =
    completed || failed ? sharedIndex(completedIndexes, failedIndexes, spec.completions ?? 0) : undefined;
  if (both !== undefined) {
    const why = `failedIndexes and completedIndexes overlap at index: ${both}`;
    causes.push(invalidCause('status.failedIndexes', failedIndexes, why));
  }
  return causes;
}

function validateCompletedIndexes(indexes: string, { completions, completionMode }: JobSpec): StatusCause[] {
  const path = 'status.completedIndexes';
  const causes = completions === undefined ? [] : [...indexesCause(indexes, completions, path).causes];
  if (indexes !== '' && completionMode !== 'Indexed') {
    const why = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    causes.push(invalidCause(path, indexes, why));
  }
  return causes;
}

function validateFailedIndexes(indexes: string, spec: JobSpec): readonly StatusCause[] {
  const path = 'status.failedIndexes';
  if (spec.backoffLimitPerIndex === undefined) {
    const why = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    return [invalidCause(path, indexes, why)];
  }
  return spec.completions === undefined ? [] : indexesCause(indexes, spec.completions, path).causes;
}
