/**
 * Computes the progress of a Job from its status and its pods, and whether it has ended (k8s.io/kubernetes
 * pkg/controller/job). Pure.
 */
import type { Job } from '../../../api/batch/v1/job.ts';
import { hasCondition } from '../../../api/batch/v1/job-conditions.ts';
import { isPodActive } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { rfc3339 } from '../../../base/time.ts';
import { type Backoff, backoffAfter, noBackoff } from './backoff-plan.ts';
import { failureCounts, failureVerdict } from './failure-policy-plan.ts';
import { type IndexSet, includes, indexSetOf, parseIndexSet, sizeOf, union } from './index-set-plan.ts';
import { completeBy, type Ending, endingInConditions, failedBy } from './job-conditions-plan.ts';
import {
  failuresBefore,
  finishedAt,
  hasFailed,
  hasSucceeded,
  ignoredFailuresBefore,
  indexOf,
  isEnding,
  isIndexed,
  isTracked,
} from './job-pods-plan.ts';
import { metSuccessRule } from './success-policy-plan.ts';

export interface JobView {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  /** Terminating pods that are still running. */
  readonly ending: readonly Pod[];
  /** Number of succeeded pods or indexes, including pods that are not counted in the status yet. */
  readonly succeeded: number;
  readonly failed: number;
  /**
   * Start of the Job. On resumption it is reset to the current time, because the time during the suspension
   * does not count. Undefined while the Job has never run.
   */
  readonly startTime: string | undefined;
  /** Defined for an indexed Job. */
  readonly indexes: Indexes | undefined;
  readonly backoff: Backoff;
  readonly end: Ending | undefined;
}

export interface Indexes {
  /** Indexes in the status. */
  readonly counted: IndexSet;
  readonly succeeded: IndexSet;
  /** Defined for a Job with a back-off limit per index. */
  readonly failed: IndexSet | undefined;
  /**
   * Last failed pod of each index that is to run again. It is kept until the next pod has its failure count.
   */
  readonly replaced: ReadonlyMap<number, Pod>;
}

/** Computes the view. `known` is the recorded back-off, if any. `pods` are all pods of the Job. */
export function viewJob(job: Job, pods: readonly Pod[], known: Backoff | undefined, now: number): JobView {
  const { status = {}, spec } = job;
  const { succeeded: uncountedSuccesses = [], failed: uncountedFailures = [] } =
    status.uncountedTerminatedPods ?? {};
  const counted = new Set([...uncountedSuccesses, ...uncountedFailures]);
  const isNew = (pod: Pod) =>
    isTracked(pod) && !counted.has(pod.metadata.uid) && (!isIndexed(job) || indexOf(pod, job) !== undefined);
  const fresh = pods.filter(isNew);
  const succeeded = fresh.filter(hasSucceeded);
  const failed = fresh.filter((pod) => hasFailed(pod, job));
  const active = pods.filter(isPodActive);
  const indexes = isIndexed(job) ? viewIndexes(job, pods, active) : undefined;
  const view = {
    job,
    pods,
    active,
    ending: pods.filter(isEnding),
    succeeded: indexes
      ? sizeOf(indexes.succeeded)
      : (status.succeeded ?? 0) + uncountedSuccesses.length + succeeded.length,
    failed:
      (status.failed ?? 0) +
      uncountedFailures.length +
      failed.filter((pod) => failureCounts(job, pod)).length,
    startTime: isResumed(job) || !(status.startTime || spec.suspend) ? rfc3339(now) : status.startTime,
    indexes,
    backoff: notAhead(backoffAfter(known ?? backoffOfCounted(job, pods, isNew), succeeded, failed), now),
  };
  return { ...view, end: endOf(view, now) };
}

const isResumed = (job: Job) => !job.spec.suspend && hasCondition(job, 'Suspended');

/** Limits the last failure to the current time, because the clock of a node may be ahead. */
const notAhead = (backoff: Backoff, now: number): Backoff => ({
  ...backoff,
  lastFailure: Math.min(backoff.lastFailure, now),
});

/** Computes the back-off after a restart, from existing pods that were counted before. */
function backoffOfCounted(job: Job, pods: readonly Pod[], isNew: (pod: Pod) => boolean): Backoff {
  const old = pods.filter((pod) => !isNew(pod));
  return backoffAfter(
    noBackoff,
    old.filter(hasSucceeded),
    old.filter((pod) => hasFailed(pod, job)),
  );
}

function viewIndexes(job: Job, pods: readonly Pod[], active: readonly Pod[]): Indexes {
  const { completions = 0, backoffLimitPerIndex } = job.spec;
  const tracked = pods.filter(isTracked);
  const of = (some: readonly Pod[]) => indexSetOf(some.flatMap((pod) => indexOf(pod, job) ?? []));
  const counted = parseIndexSet(job.status?.completedIndexes, completions);
  const succeeded = union(counted, of(tracked.filter(hasSucceeded)));
  if (backoffLimitPerIndex === undefined)
    return { counted, succeeded, failed: undefined, replaced: new Map() };
  const before = parseIndexSet(job.status?.failedIndexes, completions);
  const failed = union(before, of(tracked.filter((pod) => failsItsIndex(job, pod, backoffLimitPerIndex))));
  const settled = union(union(succeeded, failed), of(active));
  const replaced = new Map<number, Pod>();
  for (const pod of tracked) {
    const index = indexOf(pod, job);
    if (index === undefined || !hasFailed(pod, job) || includes(settled, index)) continue;
    const other = replaced.get(index);
    if (!other || isLater(pod, other)) replaced.set(index, pod);
  }
  return { counted, succeeded, failed, replaced };
}

function failsItsIndex(job: Job, pod: Pod, limit: number): boolean {
  if (!hasFailed(pod, job)) return false;
  const action = failureVerdict(job, pod)?.action;
  return action === 'FailIndex' || (action !== 'Ignore' && failuresBefore(pod) >= limit);
}

function isLater(pod: Pod, other: Pod): boolean {
  const count = (one: Pod) => failuresBefore(one) + ignoredFailuresBefore(one);
  return count(other) <= count(pod) && finishedAt(other) <= finishedAt(pod);
}

/** Returns the first reason for an end. A recorded end remains valid. */
function endOf(view: Omit<JobView, 'end'>, now: number): Ending | undefined {
  const { job, pods, failed, indexes } = view;
  const { spec, status } = job;
  const before = endingInConditions(status?.conditions) ?? endByPolicy(job, pods);
  if (before) return before;
  const limit = spec.backoffLimit ?? 6;
  if (failed > limit || restartsReach(job, pods, limit))
    return failedBy('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  if (deadlineIn(view, now) === 0)
    return failedBy('DeadlineExceeded', 'Job was active longer than specified deadline');
  return indexes && endOfIndexes(job, indexes);
}

function endByPolicy(job: Job, pods: readonly Pod[]): Ending | undefined {
  if (!job.spec.podFailurePolicy) return undefined;
  for (const pod of pods) {
    const verdict = hasFailed(pod, job) ? failureVerdict(job, pod) : undefined;
    if (verdict?.action === 'FailJob') return failedBy('PodFailurePolicy', verdict.message);
  }
  return undefined;
}

function endOfIndexes(job: Job, { succeeded, failed = [] }: Indexes): Ending | undefined {
  const { completions = 0, maxFailedIndexes } = job.spec;
  const lost = sizeOf(failed);
  if (maxFailedIndexes !== undefined && lost > maxFailedIndexes)
    return failedBy(
      'MaxFailedIndexesExceeded',
      'Job has exceeded the specified maximal number of failed indexes',
    );
  if (lost > 0 && lost + sizeOf(succeeded) >= completions)
    return failedBy('FailedIndexes', 'Job has failed indexes');
  const rule = metSuccessRule(job, succeeded);
  return rule === undefined ? undefined : completeBy('SuccessPolicy', `Matched rules at index ${rule}`);
}

/**
 * Returns true if container restarts reach the limit: a restart within a pod counts as a failure of the Job.
 */
function restartsReach({ spec }: Job, pods: readonly Pod[], limit: number): boolean {
  if (spec.template.spec.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue;
    for (const one of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
      restarts += one.restartCount;
  }
  return restarts >= Math.max(1, limit);
}

/**
 * Returns the milliseconds until the Job exceeds its deadline, or undefined if it has none or is suspended.
 */
export function deadlineIn(
  { job, startTime }: Pick<JobView, 'job' | 'startTime'>,
  now: number,
): number | undefined {
  const { activeDeadlineSeconds, suspend } = job.spec;
  if (activeDeadlineSeconds === undefined || startTime === undefined || suspend) return undefined;
  return Math.max(0, Date.parse(startTime) + activeDeadlineSeconds * 1000 - now);
}
