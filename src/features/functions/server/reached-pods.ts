/**
 * Decides to which pods the master itself connects, if it has a route to them. This is restricted because
 * nodes report the addresses of their pods and could report any address.
 */
import { type Node, nodeResource } from '../../../api/core/v1/node/node.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { storageKey } from '../../../apimachinery/resource-definition.ts';
import { hasAddress, rangeAround } from '../../../base/addresses.ts';
import type { Cache } from '../../../storage/cache.ts';

/**
 * Returns whether the server connects to the pod itself; otherwise the kubelet of the pod's node connects to
 * it.
 */
export type ReachesPod = (pod: Pod, cache: Cache) => boolean;

/**
 * Selects pods of the node on this machine: instances on other nodes only answer their own machine. The
 * address must be in the node's range, because a node could otherwise make the server connect to addresses
 * that only the server reaches.
 */
export const podsOfNode =
  (nodeName: string): ReachesPod =>
  (pod, cache) =>
    pod.spec.nodeName === nodeName && hasAddressOfItsNode(pod, cache);

const hasAddressOfItsNode: ReachesPod = ({ spec, status }, cache) => {
  // The address of such a pod is the machine's, at which other programs of the machine listen too.
  if (spec.hostNetwork) return false;
  const node = cache.get(storageKey(nodeResource, '', spec.nodeName ?? ''))?.object as Node | undefined;
  const { podCIDR, podCIDRs = podCIDR === undefined ? [] : [podCIDR] } = node?.spec ?? {};
  return podCIDRs.some((text) => {
    const range = rangeAround(text);
    return range !== undefined && hasAddress(range, status?.podIP ?? '');
  });
};
