/** What a pod's fields mean to the controllers that count pods (k8s.io/kubernetes pkg/api/v1/pod). Pure. */

import type { Pod } from '../api/core/v1/pod.ts';
import type { Condition } from '../apimachinery/schema.ts';

/** Has run to its end and will never run again. */
export const isPodTerminal = (pod: Pod) =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

export const isTerminating = (object: { metadata: { deletionTimestamp?: string | undefined } }) =>
  object.metadata.deletionTimestamp !== undefined;

/** Counts towards a controller's replicas. */
export const isPodActive = (pod: Pod) => !isPodTerminal(pod) && !isTerminating(pod);

export const readyCondition = (pod: Pod): Condition | undefined =>
  pod.status?.conditions?.find((condition) => condition.type === 'Ready');

export const isPodReady = (pod: Pod) => readyCondition(pod)?.status === 'True';

/**
 * Milliseconds until the pod will have been ready for `minReadySeconds`: 0 when it is available now, undefined
 * when it is not ready.
 */
export function availableIn(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const ready = readyCondition(pod);
  if (ready?.status !== 'True') return undefined;
  if (minReadySeconds <= 0) return 0;
  // Without a transition time the pod counts as ready from now on, as upstream's IsPodAvailable has it.
  const since = ready.lastTransitionTime ? Date.parse(ready.lastTransitionTime) : now;
  return Math.max(0, since + minReadySeconds * 1000 - now);
}

export const restartCount = (pod: Pod) =>
  Math.max(0, ...(pod.status?.containerStatuses ?? []).map((container) => container.restartCount));
