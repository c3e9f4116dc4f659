/** Whether a pod that is new to a node fits there; the scheduler is not the only one who binds pods. */
import type { Pod } from '../../api/core/v1/pod.ts';
import { isPodTerminal } from '../../api/core/v1/pod-conditions.ts';
import { podRequests } from '../../api/core/v1/pod-requests.ts';
import { isExtended } from '../../api/core/v1/resource-names.ts';
import type { PodEnd } from './actions.ts';

/**
 * Undefined when it fits beside `others` into what is allocatable (cpu in thousandths), else what becomes of it: the
 * resource that is short in the reason, as the kubelet's OutOfcpu.
 */
export function refusalOf(
  pod: Pod,
  others: readonly Pod[],
  allocatable: ReadonlyMap<string, number>,
): PodEnd | undefined {
  const here = others.filter((other) => other.metadata.uid !== pod.metadata.uid && !isPodTerminal(other));
  const used = new Map<string, number>([['pods', here.length]]);
  for (const other of here) {
    for (const [name, amount] of podRequests(other)) used.set(name, (used.get(name) ?? 0) + amount);
  }
  const wanted = new Map([['pods', 1], ...podRequests(pod)]);
  for (const [resource, requested] of wanted) {
    // The agent does not know how much there is of it; the scheduler has counted it.
    if (isExtended(resource) && !allocatable.has(resource)) continue;
    const [taken, capacity] = [used.get(resource) ?? 0, allocatable.get(resource) ?? 0];
    if (requested === 0 || taken + requested <= capacity) continue;
    return refusal(
      `OutOf${resource}`,
      `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${taken}, capacity: ${capacity}`,
    );
  }
  return undefined;
}

/** The end of a pod that this node rejects. */
export const refusal = (reason: string, why: string): PodEnd => ({
  reason,
  message: `Pod was rejected: ${why}`,
  gracePeriodSeconds: 0,
  disruption: false,
});
