/**
 * Counts each pod of a Job exactly once, wherever a reconcile is interrupted. An ended pod keeps the
 * finalizer until the status lists it (`uncountedTerminatedPods`; for an indexed Job the index). Then the
 * finalizer is removed, and listed pods that are no longer tracked are added to the counters. Pure.
 */
import type { JobCondition, JobStatus } from '../../../api/batch/v1/types.gen.ts';
import { podReady } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { failureCounts } from './failure-policy-plan.ts';
import { formatIndexSet, includes, sizeOf } from './index-set-plan.ts';
import {
  completeBy,
  type Ending,
  interimType,
  jobCondition,
  withJobCondition,
} from './job-conditions-plan.ts';
import { hasFailed, hasSucceeded, indexOf, isTracked } from './job-pods-plan.ts';
import type { PodsWanted } from './job-pods-wanted-plan.ts';
import type { Indexes, JobView } from './job-view-plan.ts';

/** Maximum number of pods listed in the status, so that it stays small and no Job delays the others. */
const maxUncounted = 500;

export interface Tracking {
  /** Status to write before a finalizer is removed. */
  readonly status: JobStatus;
  /** Pods whose finalizers may be removed after that. */
  readonly release: readonly Pod[];
  readonly end: Ending | undefined;
  /** True if more pods must be counted than fit into the status. */
  readonly more: boolean;
  /** Suspension or resumption in this reconcile. */
  readonly turned: 'Suspended' | 'Resumed' | undefined;
}

/** Plans the tracking. `done` is true if the plan `wanted` was carried out completely. */
export function planTracking(view: JobView, wanted: PodsWanted, done: boolean, now: number): Tracking {
  const { job } = view;
  const removed = done ? wanted.remove : [];
  const active = view.active.length - removed.length + (done ? wanted.create.length : 0);
  const end = endNow(view, active, done);
  const { uncounted, release, more } = countEnded({ ...view, end });
  const suspension = end || view.end || isTerminating(job) ? undefined : suspensionOf(view, now);
  const status: JobStatus = {
    ...uncounted,
    ...indexCounts(view),
    startTime: suspension?.turned === 'Resumed' ? view.startTime : (job.status?.startTime ?? view.startTime),
    active: active || undefined,
    ready: view.active.filter(podReady).length - removed.filter(podReady).length,
    terminating: view.ending.length + removed.length,
    conditions: nonEmpty([...withEnd(suspension?.conditions ?? job.status?.conditions ?? [], end, now)]),
  };
  return { status, release, end, more, turned: suspension?.turned };
}

/** Returns the conditions with the one that announces the end while pods still have to be counted. */
const withEnd = (conditions: readonly JobCondition[], end: Ending | undefined, now: number) =>
  end ? withJobCondition(conditions, jobCondition({ ...end, type: interimType[end.type] }, now)) : conditions;

/** Returns the end. The remaining pods must be known before the Job may be marked as finished. */
function endNow(view: JobView, active: number, done: boolean): Ending | undefined {
  if (!view.end) return completion(view, active);
  return done ? view.end : undefined;
}

function completion({ job, succeeded }: JobView, active: number): Ending | undefined {
  const needed = job.spec.completions ?? 1;
  return succeeded >= needed && active === 0
    ? completeBy('CompletionsReached', 'Reached expected number of succeeded pods')
    : undefined;
}

function suspensionOf({ job }: JobView, now: number) {
  const old = job.status?.conditions ?? [];
  const known = old.some(({ type }) => type === 'Suspended');
  const [reason, message] = job.spec.suspend
    ? ['JobSuspended', 'Job suspended']
    : ['JobResumed', 'Job resumed'];
  if (!job.spec.suspend && !known) return undefined;
  const condition = jobCondition(
    { type: 'Suspended', reason, message },
    now,
    job.spec.suspend ? 'True' : 'False',
  );
  const conditions = withJobCondition(old, condition);
  if (conditions === old) return undefined;
  return { conditions, turned: job.spec.suspend ? ('Suspended' as const) : ('Resumed' as const) };
}

function indexCounts({ indexes, job }: JobView): JobStatus {
  if (!indexes) return {};
  return {
    succeeded: sizeOf(indexes.succeeded) || undefined,
    completedIndexes: formatIndexSet(indexes.succeeded) || undefined,
    failedIndexes: indexes.failed ? formatIndexSet(indexes.failed) : job.status?.failedIndexes,
  };
}

/** Lists the ended pods, and adds listed pods that are no longer tracked to the counters. */
function countEnded(view: JobView) {
  const { job, pods } = view;
  const tracked = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid));
  const status = countReleased(job.status ?? {}, tracked);
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const named = { succeeded: [...succeeded], failed: [...failed], indexes: [] as string[] };
  const known = new Set([...succeeded, ...failed]);
  const release: Pod[] = [];
  const count = () => named.succeeded.length + named.failed.length + named.indexes.length;
  let more = false;
  const ended = inOrder(view).filter((pod) => isTracked(pod) && mayRelease(view, pod));
  for (const pod of ended) {
    release.push(pod);
    const { uid } = pod.metadata;
    const list = known.has(uid) ? undefined : listFor(view, pod);
    if (list) named[list].push(uid);
    more = list !== undefined && count() >= maxUncounted;
    if (more) break;
  }
  return { uncounted: { ...status, uncountedTerminatedPods: uncountedOf(named) }, release, more };
}

/** Returns the pods by index, so that the status has few intervals if not all pods fit. */
const inOrder = ({ job, pods, indexes }: JobView) =>
  indexes ? pods.toSorted((a, b) => (indexOf(a, job) ?? -1) - (indexOf(b, job) ?? -1)) : pods;

/**
 * Returns the list for a pod to release, or undefined if it does not count. A succeeded index needs no uid to
 * be counted once.
 */
function listFor({ job, indexes, end }: JobView, pod: Pod): 'succeeded' | 'failed' | 'indexes' | undefined {
  const index = indexOf(pod, job);
  if (indexes && index === undefined) return undefined;
  if (hasSucceeded(pod)) return listForSuccess(indexes, index ?? -1);
  const isFailure = hasFailed(pod, job) || end?.type === 'Failed';
  return isFailure && failureCounts(job, pod) ? 'failed' : undefined;
}

function listForSuccess(indexes: Indexes | undefined, index: number) {
  if (!indexes) return 'succeeded';
  return includes(indexes.counted, index) ? undefined : 'indexes';
}

const uncountedOf = ({ succeeded, failed }: { succeeded: readonly string[]; failed: readonly string[] }) => ({
  ...(succeeded.length > 0 && { succeeded: [...succeeded] }),
  ...(failed.length > 0 && { failed: [...failed] }),
});

/**
 * Returns true if the pod may be released. The last failed pod of an index waits for the pod that takes over
 * its failure count.
 */
function mayRelease({ job, indexes, end }: JobView, pod: Pod): boolean {
  if (isTerminating(job) || end || hasSucceeded(pod)) return true;
  if (!hasFailed(pod, job)) return false;
  const index = indexOf(pod, job);
  return index === undefined || indexes?.replaced.get(index)?.metadata.uid !== pod.metadata.uid;
}

/** Returns the status with counted pods. `tracked` holds the uids of the pods that keep their finalizers. */
export function countReleased(status: JobStatus, tracked: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const left = {
    succeeded: succeeded.filter((uid) => tracked.has(uid)),
    failed: failed.filter((uid) => tracked.has(uid)),
  };
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - left.succeeded.length || undefined,
    failed: (status.failed ?? 0) + failed.length - left.failed.length || undefined,
    uncountedTerminatedPods: uncountedOf(left),
  };
}

/** Returns the status with the terminal condition, or undefined while a pod is still running or uncounted. */
export function finished(status: JobStatus, { end, more }: Tracking, now: number): JobStatus | undefined {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  if (!end || more || succeeded.length + failed.length > 0 || (status.terminating ?? 0) > 0) return undefined;
  const condition = jobCondition(end, now);
  return {
    ...status,
    conditions: [...withJobCondition(status.conditions ?? [], condition)],
    ...(end.type === 'Complete' && { completionTime: condition.lastTransitionTime }),
  };
}

const nonEmpty = <T>(list: readonly T[]) => (list.length > 0 ? [...list] : undefined);
