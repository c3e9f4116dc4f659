/**
 * Functions on a pod's status for controllers, scheduler, proxy and node agent (upstream:
 * pkg/api/v1/pod/util.go).
 */

import { isTerminating } from '../../../../apimachinery/meta.ts';
import type { Condition } from '../../../../apimachinery/schema.ts';
import type { Pod } from '../types.gen.ts';

type PodPhase = NonNullable<NonNullable<Pod['status']>['phase']>;

export function podCondition(pod: Pick<Pod, 'status'>, type: string): Condition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

export const isTerminalPhase = (phase: PodPhase | undefined): phase is 'Succeeded' | 'Failed' =>
  phase === 'Succeeded' || phase === 'Failed';

/** Returns true if no container of the pod will run again. */
export const isPodTerminal = (pod: Pod) => isTerminalPhase(pod.status?.phase);

/**
 * Returns true if the pod counts towards its controller's replicas: it is neither finished nor being deleted.
 */
export const isPodActive = (pod: Pod) => !isPodTerminal(pod) && !isTerminating(pod);

/** Returns true if the pod has the Ready condition; a terminating pod may still be ready. */
export const podReady = (pod: Pick<Pod, 'status'>) => podCondition(pod, 'Ready')?.status === 'True';

/** Returns true if the pod has been ready for at least `minReadySeconds`; `now` is in milliseconds. */
export function podAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (!podReady(pod)) return false;
  return minReadySeconds === 0 || podAvailableIn(pod, minReadySeconds, now) === 0;
}

/**
 * Returns the milliseconds until a ready pod becomes available if it stays ready; 0 when it is available.
 * Undefined for a pod that is not ready, or whose condition has no time.
 */
export function podAvailableIn(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const ready = podCondition(pod, 'Ready');
  if (ready?.status !== 'True') return undefined;
  if (minReadySeconds === 0) return 0;
  const since = Date.parse(ready.lastTransitionTime ?? '');
  return Number.isNaN(since) ? undefined : Math.max(0, since + minReadySeconds * 1000 - now);
}
