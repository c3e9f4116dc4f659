import { maxScore, type NodeInfo, type Plugin, type Rejection } from '../framework.ts';

/** Requests must fit into what is allocatable and not requested yet; the score prefers the emptiest node. */
export const resourcesFit: Plugin = {
  name: 'NodeResourcesFit',
  filter: ({ requests }, node) => {
    const rejections: Rejection[] = [];
    const pods = node.allocatable.get('pods');
    if (pods !== undefined && node.podCount + 1 > pods)
      rejections.push(short('Too many pods', 'pods', 1, pods - node.podCount));
    for (const [resource, requested] of requests) {
      const free = freeOf(node, resource);
      if (requested > 0 && requested > free)
        rejections.push(short(`Insufficient ${resource}`, resource, requested, free));
    }
    return rejections;
  },
  score: (pod, node) => {
    const scores = ['cpu', 'memory'].map((resource) => {
      const capacity = node.allocatable.get(resource) ?? 0;
      const used = (node.weighed.get(resource) ?? 0) + (pod.weighed.get(resource) ?? 0);
      return capacity > 0 && used <= capacity ? ((capacity - used) / capacity) * maxScore : 0;
    });
    return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  },
};

const freeOf = (node: NodeInfo, resource: string) =>
  (node.allocatable.get(resource) ?? 0) - (node.requested.get(resource) ?? 0);

const short = (text: string, resource: string, requested: number, free: number): Rejection => ({
  plugin: 'NodeResourcesFit',
  text,
  shortage: { resource, requested, free },
});
