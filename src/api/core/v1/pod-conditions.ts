/** Readings of a pod that controllers, scheduler, proxy and node agent share (upstream: pkg/api/v1/pod/util.go). */
import { isTerminating } from '../../../apimachinery/meta.ts';
import type { Condition } from '../../../apimachinery/schema.ts';
import type { Pod } from './pod.ts';

type PodPhase = NonNullable<NonNullable<Pod['status']>['phase']>;

export function podCondition(pod: Pick<Pod, 'status'>, type: string): Condition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

export const isTerminalPhase = (phase: PodPhase | undefined): phase is 'Succeeded' | 'Failed' =>
  phase === 'Succeeded' || phase === 'Failed';

/** No container of the pod will ever run again. */
export const isPodTerminal = (pod: Pod) => isTerminalPhase(pod.status?.phase);

/** Counts towards its controller's replicas: neither finished nor on its way out. */
export const isPodActive = (pod: Pod) => !isPodTerminal(pod) && !isTerminating(pod);

/** The Ready condition alone; a terminating pod may still be ready. */
export const podReady = (pod: Pick<Pod, 'status'>) => podCondition(pod, 'Ready')?.status === 'True';

/** Ready since at least `minReadySeconds`; `now` in milliseconds. */
export function podAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (!podReady(pod)) return false;
  return minReadySeconds === 0 || podAvailableIn(pod, minReadySeconds, now) === 0;
}

/**
 * Milliseconds until a ready pod becomes available if it stays ready; 0 when it is available. A pod that is not
 * ready, or does not say since when, is not on its way: undefined.
 */
export function podAvailableIn(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const ready = podCondition(pod, 'Ready');
  if (ready?.status !== 'True') return undefined;
  if (minReadySeconds === 0) return 0;
  const since = Date.parse(ready.lastTransitionTime ?? '');
  return Number.isNaN(since) ? undefined : Math.max(0, since + minReadySeconds * 1000 - now);
}
