/** Functions that interpret the pods of a Job. Pure. */

import type { Job } from '../../../api/batch/v1/job.ts';
import { isPodTerminal, podCondition } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';

/** Finalizer of pods that are not counted yet; it keeps a pod until the pod is counted. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const indexKey = 'batch.kubernetes.io/job-completion-index';
export const failureCountKey = 'batch.kubernetes.io/job-index-failure-count';
export const ignoredFailureCountKey = 'batch.kubernetes.io/job-index-ignored-failure-count';

export const isTracked = (pod: Pod) => pod.metadata.finalizers?.includes(trackingFinalizer) ?? false;

export const isIndexed = ({ spec }: Job) => spec.completionMode === 'Indexed';

/** Returns true if another controller manages the Job (`managedBy`). */
export const isManagedElsewhere = ({ spec }: Job) =>
  spec.managedBy !== undefined && spec.managedBy !== 'kubernetes.io/job-controller';

/** Returns true if a terminating pod is replaced only after it has ended. */
export const waitsForEnd = ({ spec }: Job) =>
  spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;

/**
 * Returns true if the pod has failed. A terminating pod counts as failed as well, unless the Job waits for
 * its end, because its node may no longer exist and report the end.
 */
export function hasFailed(pod: Pod, job: Job): boolean {
  const phase = pod.status?.phase;
  return phase === 'Failed' || (!waitsForEnd(job) && isTerminating(pod) && phase !== 'Succeeded');
}

export const hasSucceeded = ({ status }: Pod) => status?.phase === 'Succeeded';

/** Returns true if the pod is still running and terminating. */
export const isEnding = (pod: Pod) => isTerminating(pod) && !isPodTerminal(pod);

/** Returns the index of a pod, or undefined if it has none that is valid for this Job. */
export function indexOf(pod: Pod, job: Job): number | undefined {
  const index = writtenIndexOf(pod);
  return index !== undefined && index < (job.spec.completions ?? 0) ? index : undefined;
}

/** Returns the index in the annotation, even if it is too large for the current Job. */
export function writtenIndexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[indexKey] ?? '';
  return /^\+?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/**
 * Returns how many pods of the index failed before this one; values that are not 32-bit numbers count as 0.
 */
export const failuresBefore = (pod: Pod) => countIn(pod, failureCountKey);
export const ignoredFailuresBefore = (pod: Pod) => countIn(pod, ignoredFailureCountKey);

function countIn({ metadata }: Pod, key: string): number {
  const text = metadata.annotations?.[key] ?? '';
  const count = /^\+?\d{1,15}$/.test(text) ? Number(text) : 0;
  return count < 2 ** 31 ? count : 0;
}

/**
 * Returns the end of a pod in milliseconds: the end of its containers, including sidecars; else the time at
 * which it became unready; else the time of its deletion request; else its creation.
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
