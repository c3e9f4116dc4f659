/** What a Job reads from its pods. Pure. */

import type { Job } from '../../../api/batch/v1/job.ts';
import type { Pod } from '../../../api/core/v1/pod.ts';
import { isPodTerminal, podCondition } from '../../../api/core/v1/pod-conditions.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';

/** A pod that carries it is not counted yet, and stays until it is. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const indexKey = 'batch.kubernetes.io/job-completion-index';
export const failureCountKey = 'batch.kubernetes.io/job-index-failure-count';
export const ignoredFailureCountKey = 'batch.kubernetes.io/job-index-ignored-failure-count';

export const isTracked = (pod: Pod) => pod.metadata.finalizers?.includes(trackingFinalizer) ?? false;

export const isIndexed = ({ spec }: Job) => spec.completionMode === 'Indexed';

/** Another controller looks after the Job (`managedBy`). */
export const isManagedElsewhere = ({ spec }: Job) =>
  spec.managedBy !== undefined && spec.managedBy !== 'kubernetes.io/job-controller';

/** A pod that is being deleted is replaced only once it has ended. */
export const waitsForEnd = ({ spec }: Job) =>
  spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;

/** One that is being deleted has failed, too, unless the Job waits for its end: nobody may be left to say so. */
export function hasFailed(pod: Pod, job: Job): boolean {
  const phase = pod.status?.phase;
  return phase === 'Failed' || (!waitsForEnd(job) && isTerminating(pod) && phase !== 'Succeeded');
}

export const hasSucceeded = ({ status }: Pod) => status?.phase === 'Succeeded';

/** It runs still, and has been asked to end. */
export const isEnding = (pod: Pod) => isTerminating(pod) && !isPodTerminal(pod);

/** Undefined where there is none, or none that counts for this Job. */
export function indexOf(pod: Pod, job: Job): number | undefined {
  const index = writtenIndexOf(pod);
  return index !== undefined && index < (job.spec.completions ?? 0) ? index : undefined;
}

/** Also one that is too large for the Job as it is now. */
export function writtenIndexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[indexKey] ?? '';
  return /^\+?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** How often pods of its index failed before it; what is not a number of 32 bits counts as none. */
export const failuresBefore = (pod: Pod) => countIn(pod, failureCountKey);
export const ignoredFailuresBefore = (pod: Pod) => countIn(pod, ignoredFailureCountKey);

function countIn({ metadata }: Pod, key: string): number {
  const text = metadata.annotations?.[key] ?? '';
  const count = /^\+?\d{1,15}$/.test(text) ? Number(text) : 0;
  return count < 2 ** 31 ? count : 0;
}

/**
 * When it ended, in milliseconds: as its containers say, sidecars too; else since when it is not ready; else when its deletion was
 * asked for; else when it was made.
 */
export function finishedAt(pod: Pod): number {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata;
  const ready = podCondition(pod, 'Ready');
  const notReadySince = ready?.status === 'False' ? Date.parse(ready.lastTransitionTime ?? '') : Number.NaN;
  return (
    containersFinishedAt(pod) ??
    known(notReadySince) ??
    known(Date.parse(deletionTimestamp ?? '') - deletionGracePeriodSeconds * 1000) ??
    known(Date.parse(creationTimestamp)) ??
    0
  );
}

const known = (time: number) => (Number.isNaN(time) ? undefined : time);

function containersFinishedAt({ spec, status }: Pod): number | undefined {
  const sidecars = new Set(
    (spec.initContainers ?? []).filter((one) => one.restartPolicy === 'Always').map(({ name }) => name),
  );
  const statuses = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  const times = statuses.map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''));
  return times.length > 0 ? known(Math.max(...times)) : undefined;
}
