/**
 * Plans the objects for the jobs of one connection: the pod that runs their client, and objects to delete.
 * Pure.
 */

import { isPodActive, isPodTerminal } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { type SlurmJob, slurmFinalizer, slurmJobEnded } from '../api/slurm-job.ts';

export interface ConnectionState {
  readonly jobs: readonly SlurmJob[];
  /** Client pods, including ended and terminating ones. */
  readonly pods: readonly Pod[];
  /** True if the connection's Secret exists; undefined unless a job is being deleted. */
  readonly secretIsThere: boolean | undefined;
  /** True if nothing can be created in the namespace any more. */
  readonly namespaceEnds: boolean;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
}

export interface Release {
  readonly job: SlurmJob;
  /** Reason why the job may continue at the host; undefined if it does not. */
  readonly left: string | undefined;
}

export interface ConnectionPlan {
  readonly needsClient: boolean;
  readonly remove: readonly Pod[];
  readonly release: readonly Release[];
  /** Jobs whose time to live after their end has passed. */
  readonly expired: readonly SlurmJob[];
  /** Milliseconds after which time alone changes the plan. */
  readonly again: number | undefined;
}

/** Milliseconds that an idle client waits for more jobs. */
const idleMs = 120_000;

const isHeld = ({ metadata }: SlurmJob) => metadata.finalizers?.includes(slurmFinalizer) ?? false;

export function planConnection(state: ConnectionState): ConnectionPlan {
  const { jobs, pods, now } = state;
  const live = pods.filter(isPodActive).toSorted(byAge);
  const release = jobs.flatMap((job) => releaseOf(job, live.length > 0, state) ?? []);
  const released = new Set(release.map(({ job }) => job));
  const isOpen = (job: SlurmJob) =>
    isTerminating(job) ? isHeld(job) && !released.has(job) : !slurmJobEnded(job);
  const needsClient = jobs.some(isOpen);
  const idleAt = needsClient ? undefined : Math.max(0, ...jobs.map((job) => endOf(job) ?? 0)) + idleMs;
  const isIdle = idleAt !== undefined && idleAt <= now;
  const remove = pods.filter(
    (pod) => !isTerminating(pod) && (isIdle || isPodTerminal(pod) || (live.includes(pod) && pod !== live[0])),
  );
  const expiries = jobs.flatMap((job) => {
    const [end, ttl] = [endOf(job), job.spec.ttlSecondsAfterFinished];
    return end === undefined || ttl === undefined || isTerminating(job)
      ? []
      : [{ job, at: end + ttl * 1000 }];
  });
  const times = [
    ...(idleAt !== undefined && live.length > 0 ? [idleAt] : []),
    ...expiries.map(({ at }) => at),
  ].filter((at) => at > now);
  return {
    needsClient,
    remove,
    release,
    expired: expiries.filter(({ at }) => at <= now).map(({ job }) => job),
    again: times.length === 0 ? undefined : Math.min(...times) - now,
  };
}

/** Returns the release of a job that no client has to handle, or can handle, any more. */
function releaseOf(job: SlurmJob, hasClient: boolean, state: ConnectionState): Release | undefined {
  if (!isTerminating(job) || !isHeld(job)) return undefined;
  // A client records a job in its status before it does anything for the job.
  const isUntouched = job.status?.phase === undefined && !hasClient;
  if (slurmJobEnded(job) || isUntouched) return { job, left: undefined };
  const { secretName } = job.spec.connection;
  if (state.secretIsThere === false) return { job, left: `Secret ${secretName} is gone` };
  if (state.namespaceEnds && !hasClient) return { job, left: 'its namespace is being deleted' };
  return undefined;
}

/** Returns the end of the job in milliseconds since 1970, or undefined if it has not ended. */
function endOf(job: SlurmJob): number | undefined {
  if (!slurmJobEnded(job)) return undefined;
  const end = job.status?.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  const at = Date.parse(end?.lastTransitionTime ?? job.status?.endTime ?? job.metadata.creationTimestamp);
  return Number.isNaN(at) ? 0 : at;
}

const byAge = ({ metadata: a }: Pod, { metadata: b }: Pod) =>
  a.creationTimestamp === b.creationTimestamp
    ? a.name.localeCompare(b.name)
    : a.creationTimestamp < b.creationTimestamp
      ? -1
      : 1;
