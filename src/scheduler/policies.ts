/** Chooses a node among those that fit the pod. Pure: state and randomness are arguments. */
import type { Pod } from '../api/core/v1/pod/pod.ts';
import type { Random } from '../base/random.ts';
import type { Cluster, Plugin } from './framework.ts';
import type { NodeInfo, PodInfo } from './node-info.ts';

/**
 * Policies. Default uses the weighted scores of all plugins. RoundRobin iterates over the nodes by name.
 * LeastCpu and LeastMem use the pods' requests in proportion to the node.
 */
export const policies = ['Default', 'RoundRobin', 'Random', 'LeastPod', 'LeastCpu', 'LeastMem'] as const;
export type Policy = (typeof policies)[number];

/** Annotation by which a pod selects another policy than the cluster's. */
export const policyAnnotation = 'minik8s.io/scheduling-policy';

/** Returns the policy that the pod selects, or undefined if it selects none or an unknown one. */
export const policyOf = ({ metadata }: Pod): Policy | undefined =>
  policies.find((policy) => policy === metadata.annotations?.[policyAnnotation]);

export interface ChoiceOptions {
  readonly policy: Policy;
  readonly random: Random;
  readonly plugins: readonly Plugin[];
  /** Node that was chosen last, for RoundRobin. */
  readonly lastNode?: string | undefined;
}

/** Returns the chosen node, or undefined if `feasible` is empty. */
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

/** Returns the first node by name after `last`, or the first of all. */
function next(nodes: readonly NodeInfo[], last: string): NodeInfo | undefined {
  const first = (some: readonly NodeInfo[]) =>
    some.reduce<NodeInfo | undefined>(
      (least, one) => (least && least.name < one.name ? least : one),
      undefined,
    );
  return first(nodes.filter(({ name }) => name > last)) ?? first(nodes);
}

/** Returns the weighted sums of the plugins' scores, in the order of the nodes. */
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
    addWeighted(totals, scores, plugin.weight ?? 1);
  }
  return totals;
}

function addWeighted(totals: number[], scores: readonly number[], weight: number): void {
  for (let index = 0; index < scores.length; index++)
    totals[index] = (totals[index] ?? 0) + weight * (scores[index] ?? 0);
}

const share = (node: NodeInfo, resource: string) =>
  (node.weighed.get(resource) ?? 0) / (node.allocatable.get(resource) || 1);

/** Scores that differ by less are equal except for rounding. */
const alike = 1e-9;

/** Returns one of the best nodes at random, so that equal nodes are filled evenly. */
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
