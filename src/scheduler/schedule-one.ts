/** Where one pod goes, or why it can go nowhere. Pure: state, policy and randomness are arguments. */
import type { Pod } from '../api/core/v1/pod.ts';
import type { Random } from '../base/random.ts';
import type { NodeInfo, PodInfo, Rejection } from './framework.ts';
import { plugins } from './plugins/index.ts';
import { podInfo } from './pod-info.ts';

/**
 * How a node is chosen among those that can take the pod. Default weighs all plugins' scores; RoundRobin goes
 * through the nodes by name; LeastCpu and LeastMem count what pods request, in proportion to the node.
 */
export const policies = ['Default', 'RoundRobin', 'Random', 'LeastPod', 'LeastCpu', 'LeastMem'] as const;
export type Policy = (typeof policies)[number];

/** Why a node cannot take the pod: every reason of every plugin. */
export interface NodeRejections {
  readonly node: string;
  readonly rejections: readonly Rejection[];
}

export type Decision =
  | { readonly kind: 'node'; readonly node: string }
  | { readonly kind: 'unschedulable'; readonly nodes: readonly NodeRejections[] };

export interface ScheduleOptions {
  readonly policy: Policy;
  readonly random: Random;
  /** The node chosen last, for RoundRobin. */
  readonly lastNode?: string | undefined;
}

export function scheduleOne(pod: Pod, nodes: readonly NodeInfo[], options: ScheduleOptions): Decision {
  const info = podInfo(pod);
  const feasible: NodeInfo[] = [];
  const rejected: NodeRejections[] = [];
  for (const node of nodes) {
    const rejections = plugins.flatMap((plugin) => plugin.filter(info, node));
    if (rejections.length === 0) feasible.push(node);
    else rejected.push({ node: node.node.metadata.name, rejections });
  }
  const chosen = choose(info, feasible, options);
  return chosen
    ? { kind: 'node', node: chosen.node.metadata.name }
    : { kind: 'unschedulable', nodes: rejected };
}

function choose(
  pod: PodInfo,
  feasible: readonly NodeInfo[],
  { policy, random, lastNode = '' }: ScheduleOptions,
): NodeInfo | undefined {
  switch (policy) {
    case 'RoundRobin': {
      const sorted = [...feasible].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
      return sorted.find((node) => nameOf(node) > lastNode) ?? sorted[0];
    }
    case 'Random':
      return pick(feasible, random);
    case 'LeastPod':
      return best(feasible, (node) => -node.podCount, random);
    case 'LeastCpu':
      return best(feasible, (node) => -share(node, 'cpu'), random);
    case 'LeastMem':
      return best(feasible, (node) => -share(node, 'memory'), random);
    case 'Default':
      return best(
        feasible,
        (node) => plugins.reduce((sum, plugin) => sum + (plugin.score?.(pod, node) ?? 0), 0),
        random,
      );
  }
}

const nameOf = (node: NodeInfo) => node.node.metadata.name;

const share = (node: NodeInfo, resource: string) =>
  (node.weighed.get(resource) ?? 0) / (node.allocatable.get(resource) || 1);

const pick = (nodes: readonly NodeInfo[], random: Random): NodeInfo | undefined =>
  nodes[Math.floor(random.next() * nodes.length)];

/** One of the best, drawn at random, so that equal nodes are filled alike. */
function best(nodes: readonly NodeInfo[], score: (node: NodeInfo) => number, random: Random) {
  let top: NodeInfo[] = [];
  let topScore = Number.NEGATIVE_INFINITY;
  for (const node of nodes) {
    const value = score(node);
    if (value > topScore) {
      top = [];
      topScore = value;
    }
    if (value === topScore) top.push(node);
  }
  return pick(top, random);
}
