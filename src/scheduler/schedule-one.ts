/**
 * Chooses the node of one pod, or explains why there is none. Pure: state, policy and randomness are
 * arguments.
 */
import type { Pod } from '../api/core/v1/pod/pod.ts';
import type { Random } from '../base/random.ts';
import { Cycle } from './cycle.ts';
import type { Budget, Cluster, NodeRejections, Plugin, Rejection, Remedy } from './framework.ts';
import type { NodeInfo, PodInfo } from './node-info.ts';
import { podInfo } from './pod-info.ts';
import { choose, type Policy, policyOf } from './policies.ts';

export type Decision =
  | { readonly kind: 'node'; readonly node: string; readonly lookedAt: number }
  | Unschedulable;

export interface Unschedulable {
  readonly kind: 'unschedulable';
  /** Rejections of each node. */
  readonly nodes: readonly NodeRejections[];
  /** Rejection that applies to all nodes. */
  readonly refused?: Rejection;
  /** Names of the plugins that make the pod unschedulable. */
  readonly plugins: ReadonlySet<string>;
  readonly remedy?: Remedy;
}

export interface ScheduleOptions {
  readonly policy: Policy;
  readonly random: Random;
  readonly plugins: readonly Plugin[];
  /** Node that was chosen last, for RoundRobin. */
  readonly lastNode?: string | undefined;
  /** Index of the node at which to begin; default the first. */
  readonly begin?: number;
  /** Node for which the pod is nominated. */
  readonly nominated?: string | undefined;
  /** Returns the budgets; called only if pods may have to be evicted. */
  readonly budgets?: () => readonly Budget[];
}

export function scheduleOne(pod: Pod, cluster: Cluster, options: ScheduleOptions): Decision {
  const info = podInfo(pod);
  const cycle = Cycle.begin(info, cluster, options.plugins);
  if (!(cycle instanceof Cycle)) return refusedBy(cycle);
  const policy = policyOf(pod) ?? options.policy;
  const { feasible, lookedAt } = find(cycle, cluster, policy, options);
  const chosen = choose(info, feasible, cluster, { ...options, policy });
  if (!chosen) return unschedulable(cycle, cluster, options);
  const [kept] = options.plugins.flatMap((plugin) => plugin.reserve?.(info, chosen, cluster) ?? []);
  return kept ? refusedBy(kept) : { kind: 'node', node: chosen.name, lookedAt };
}

export const refusedBy = (refused: Rejection): Unschedulable => ({
  kind: 'unschedulable',
  nodes: [],
  refused,
  plugins: new Set([refused.plugin]),
});

/** Minimum number of nodes that are scored (upstream's minFeasibleNodesToFind). */
const minScored = 100;

/**
 * Returns the number of fitting nodes after which the search ends: all in a small cluster, down to a
 * twentieth in a large one (upstream's adaptive percentageOfNodesToScore).
 */
export function enoughOf(nodes: number): number {
  if (nodes <= minScored) return nodes;
  const percent = Math.max(5, 50 - Math.floor(nodes / 125));
  return Math.max(minScored, Math.floor((nodes * percent) / 100));
}

function find(
  cycle: Cycle,
  cluster: Cluster,
  policy: Policy,
  { begin = 0, nominated }: ScheduleOptions,
): { readonly feasible: readonly NodeInfo[]; readonly lookedAt: number } {
  const held = nominated === undefined ? undefined : cluster.node(nominated);
  if (held && cycle.fits(held)) return { feasible: [held], lookedAt: 0 };
  const candidates = cycle.nodes?.flatMap((name) => cluster.node(name) ?? []) ?? cluster.nodes;
  // The other policies are defined over all nodes.
  const enough = policy === 'Default' ? enoughOf(cluster.nodes.length) : candidates.length;
  const feasible: NodeInfo[] = [];
  let lookedAt = 0;
  for (; lookedAt < candidates.length && feasible.length < enough; lookedAt++) {
    const node = candidates[(begin + lookedAt) % candidates.length];
    if (node && cycle.fits(node)) feasible.push(node);
  }
  return { feasible, lookedAt };
}

function unschedulable(cycle: Cycle, cluster: Cluster, options: ScheduleOptions): Unschedulable {
  const nodes = cluster.nodes.map((node) => ({ node: node.name, rejections: cycle.rejections(node) }));
  const plugins = new Set<string>();
  for (const { rejections } of nodes) for (const { plugin } of rejections) plugins.add(plugin);
  const remedy = remedyOf(cycle.pod, cycle, nodes, cluster, options);
  return { kind: 'unschedulable', nodes, plugins, ...(remedy && { remedy }) };
}

function remedyOf(
  pod: PodInfo,
  cycle: Cycle,
  nodes: readonly NodeRejections[],
  cluster: Cluster,
  { plugins, nominated, budgets, random }: ScheduleOptions,
): Remedy | undefined {
  if (nodes.length === 0) return undefined;
  const attempt = {
    pod,
    cluster,
    nodes,
    nominated,
    trial: (node: NodeInfo) => cycle.trial(node),
    budgets: budgets ?? (() => []),
    offset: Math.floor(random.next() * nodes.length),
  };
  for (const plugin of plugins) {
    const remedy = plugin.postFilter?.(attempt);
    if (remedy) return remedy;
  }
  return undefined;
}
