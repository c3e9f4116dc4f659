/** To which pods a master connects by itself that has a route to them: a node says the addresses of its pods, and might name any. */
import { type Node, nodeResource } from '../../api/core/v1/node.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import { hasAddress, rangeAround } from '../../base/addresses.ts';
import type { Cache } from '../../storage/cache.ts';

/** Whether the server connects to the pod itself; the agent of its node connects to others. */
export type ReachesPod = (pod: Pod, cache: Cache) => boolean;

/**
 * Those of the node of this very machine: instances of others answer nobody but their own machine. By no other address than one of
 * its range the node could have the server ask what only the server reaches.
 */
export const podsOfNode =
  (nodeName: string): ReachesPod =>
  (pod, cache) =>
    pod.spec.nodeName === nodeName && hasAddressOfItsNode(pod, cache);

const hasAddressOfItsNode: ReachesPod = ({ spec, status }, cache) => {
  // Its address is that of the machine, with all that listens there.
  if (spec.hostNetwork) return false;
  const node = cache.get(storageKey(nodeResource, '', spec.nodeName ?? ''))?.object as Node | undefined;
  const { podCIDR, podCIDRs = podCIDR === undefined ? [] : [podCIDR] } = node?.spec ?? {};
  return podCIDRs.some((text) => {
    const range = rangeAround(text);
    return range !== undefined && hasAddress(range, status?.podIP ?? '');
  });
};
