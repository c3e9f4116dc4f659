/** How a node is chosen among those that can take the pod. Pure: state and randomness are arguments. */
import type { Pod } from '../api/core/v1/pod.ts';
import type { Random } from '../base/random.ts';
import type { Cluster, NodeInfo, Plugin, PodInfo } from './framework.ts';

/**
 * Default weighs all plugins' scores; RoundRobin goes through the nodes by name; LeastCpu and LeastMem count what pods
 * request, in proportion to the node.
 */
export const policies = ['Default', 'RoundRobin', 'Random', 'LeastPod', 'LeastCpu', 'LeastMem'] as const;
export type Policy = (typeof policies)[number];

/** The annotation by which a pod asks for another policy than the cluster's. */
export const policyAnnotation = 'minik8s.io/scheduling-policy';

/** What the pod asks for; undefined where it asks for none, or for none there is. */
export const policyOf = ({ metadata }: Pod): Policy | undefined =>
  policies.find((policy) => policy === metadata.annotations?.[policyAnnotation]);

export interface ChoiceOptions {
  readonly policy: Policy;
  readonly random: Random;
  readonly plugins: readonly Plugin[];
  /** The node chosen last, for RoundRobin. */
  readonly lastNode?: string | undefined;
}

/** Undefined when there is none to choose from. */
export function choose(
  pod: PodInfo,
  feasible: readonly NodeInfo[],
  cluster: Cluster,
  { policy, random, plugins, lastNode = '' }: ChoiceOptions,
): NodeInfo | undefined {
  if (feasible.length <= 1) return feasible[0];
  switch (policy) {
    case 'RoundRobin':
      return next(feasible, lastNode);
    case 'Random':
      return feasible[Math.floor(random.next() * feasible.length)];
    case 'LeastPod':
      return best(feasible, (node) => -node.podCount, random);
    case 'LeastCpu':
      return best(feasible, (node) => -share(node, 'cpu'), random);
    case 'LeastMem':
      return best(feasible, (node) => -share(node, 'memory'), random);
    case 'Default': {
      const scores = totalScores(pod, feasible, cluster, plugins);
      return best(feasible, (_node, index) => scores[index] ?? 0, random);
    }
  }
}

/** The first by name after the last one, or the first of all. */
function next(nodes: readonly NodeInfo[], last: string): NodeInfo | undefined {
  const first = (some: readonly NodeInfo[]) =>
    some.reduce<NodeInfo | undefined>(
      (least, one) => (least && least.name < one.name ? least : one),
      undefined,
    );
  return first(nodes.filter(({ name }) => name > last)) ?? first(nodes);
}

/** The weighted sum of what each plugin gives, in the order of the nodes. */
export function totalScores(
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  cluster: Cluster,
  plugins: readonly Plugin[],
): readonly number[] {
  const totals = nodes.map(() => 0);
  for (const plugin of plugins) {
    if (!plugin.score) continue;
    const prepared = plugin.preScore?.(pod, nodes, cluster);
    if (prepared === 'skip') continue;
    const scores: number[] = [];
    for (const node of nodes) scores.push(plugin.score(pod, node, prepared?.state));
    plugin.normalize?.(scores, nodes, prepared?.state);
    const { weight = 1 } = plugin;
    for (let index = 0; index < scores.length; index++)
      totals[index] = (totals[index] ?? 0) + weight * (scores[index] ?? 0);
  }
  return totals;
}

const share = (node: NodeInfo, resource: string) =>
  (node.weighed.get(resource) ?? 0) / (node.allocatable.get(resource) || 1);

/** Of scores that differ by less only the machine's arithmetic tells them apart. */
const alike = 1e-9;

/** One of the best, drawn at random, so that equal nodes are filled alike. */
function best(
  nodes: readonly NodeInfo[],
  score: (node: NodeInfo, index: number) => number,
  random: Random,
): NodeInfo | undefined {
  let top: NodeInfo[] = [];
  let topScore = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < nodes.length; index++) {
    const node = nodes[index] as NodeInfo;
    const value = score(node, index);
    if (value > topScore + alike) {
      top = [];
      topScore = value;
    }
    if (value >= topScore - alike) top.push(node);
  }
  return top[Math.floor(random.next() * top.length)];
}
