/** Checks whether a new pod fits on the node; pods may also be bound by others than the scheduler. */

import { isExtended } from '../../../api/core/v1/container/resource-names.ts';
import { isPodTerminal } from '../../../api/core/v1/pod/conditions.ts';
import { hostPorts, portsConflict } from '../../../api/core/v1/pod/host-ports.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { podRequests } from '../../../api/core/v1/pod/requests.ts';
import { objectKey } from '../../../apimachinery/meta.ts';
import type { PodEnd } from './actions.ts';

/**
 * Returns undefined when the pod fits beside `others` into `allocatable` (cpu in thousandths) and its host
 * ports are free. Otherwise returns its end, with the short resource in the reason, as the kubelet's
 * OutOfcpu.
 */
export function refusalOf(
  pod: Pod,
  others: readonly Pod[],
  allocatable: ReadonlyMap<string, number>,
): PodEnd | undefined {
  const lack = lackOf(pod, others, allocatable);
  return lack ? refusal(`OutOf${lack.resource}`, lack.message) : portsRefusal(pod, others);
}

/**
 * Rejects a pod whose host ports are taken. An earlier pod of the same name does not count: it is about to
 * release its ports.
 */
function portsRefusal(pod: Pod, others: readonly Pod[]): PodEnd | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const here = others.filter((other) => objectKey(other) !== objectKey(pod) && !isPodTerminal(other));
  const taken = here.flatMap(hostPorts);
  if (!wanted.some((one) => taken.some((other) => portsConflict(one, other)))) return undefined;
  return refusal(
    'NodePorts',
    "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
  );
}

/** Returns the resource that is short for the pod beside `others`; undefined when none is. */
export function lackOf(
  pod: Pod,
  others: readonly Pod[],
  allocatable: ReadonlyMap<string, number>,
): { readonly resource: string; readonly message: string } | undefined {
  const used = usedBy(running(others, pod));
  const wanted = new Map([['pods', 1], ...podRequests(pod)]);
  for (const [resource, requested] of wanted) {
    // The amount of this resource is unknown here; the scheduler has counted it.
    if (isExtended(resource) && !allocatable.has(resource)) continue;
    const [taken, capacity] = [used.get(resource) ?? 0, allocatable.get(resource) ?? 0];
    if (requested === 0 || taken + requested <= capacity) continue;
    const amounts = `requested: ${requested}, used: ${taken}, capacity: ${capacity}`;
    return { resource, message: `Node didn't have enough resource: ${resource}, ${amounts}` };
  }
  return undefined;
}

/** Returns the number of pods, and the sum of their requests of each resource. */
function usedBy(pods: readonly Pod[]): ReadonlyMap<string, number> {
  const used = new Map<string, number>([['pods', pods.length]]);
  for (const pod of pods) {
    for (const [name, amount] of podRequests(pod)) used.set(name, (used.get(name) ?? 0) + amount);
  }
  return used;
}

const running = (others: readonly Pod[], pod: Pod) =>
  others.filter((other) => other.metadata.uid !== pod.metadata.uid && !isPodTerminal(other));

/** The end of a pod that this node rejects. */
export const refusal = (reason: string, why: string): PodEnd => ({
  reason,
  message: `Pod was rejected: ${why}`,
  gracePeriodSeconds: 0,
  disruption: false,
});
