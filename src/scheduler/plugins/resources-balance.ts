import { maxScore, type Plugin } from '../framework.ts';
import type { NodeInfo, PodInfo } from '../node-info.ts';

/**
 * Prefers nodes on which similar shares of cpu and memory would be requested, so that neither is exhausted
 * while much of the other is free.
 */
export const resourcesBalance: Plugin = {
  name: 'NodeResourcesBalancedAllocation',
  score(pod, node) {
    const cpu = share(pod, node, 'cpu');
    const memory = share(pod, node, 'memory');
    // A node with only one of the resources is never out of balance.
    const deviation = cpu === undefined || memory === undefined ? 0 : Math.abs(cpu - memory) / 2;
    return (1 - deviation) * maxScore;
  },
};

function share(pod: PodInfo, node: NodeInfo, resource: string): number | undefined {
  const capacity = node.allocatable.get(resource);
  if (!capacity) return undefined;
  const taken = (node.requested.get(resource) ?? 0) + (pod.requests.get(resource) ?? 0);
  return Math.min(1, taken / capacity);
}
