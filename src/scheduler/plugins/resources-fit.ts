import { maxScore, type NodeInfo, type Plugin, type Rejection, type Resources } from '../framework.ts';

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
      const capacity = amountOf(node.allocatable, resource);
      const used = amountOf(node.weighed, resource) + amountOf(pod.weighed, resource);
      // What is not there at all is more than full: a pod weighs something always.
      return Math.max(0, (capacity - used) / capacity) * maxScore;
    });
    return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  },
};

const freeOf = (node: NodeInfo, resource: string) =>
  amountOf(node.allocatable, resource) - amountOf(node.requested, resource);

const amountOf = (resources: Resources, name: string) => resources.get(name) ?? 0;

const short = (text: string, resource: string, requested: number, free: number): Rejection => ({
  plugin: 'NodeResourcesFit',
  text,
  shortage: { resource, requested, free },
});
