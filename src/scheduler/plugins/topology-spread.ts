import type { Node } from '../../api/core/v1/node/node.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { changedNode } from '../cluster-events.ts';
import { maxScore, type Plugin } from '../framework.ts';
import type { NodeInfo } from '../node-info.ts';
import { defaultConstraints, type SpreadConstraint, spreadConstraints } from '../spread-constraints.ts';
import type { Changes, DomainCounts } from '../topology/domain-counts.ts';

const name = 'PodTopologySpread';
const uneven = [{ plugin: name, text: "node(s) didn't match pod topology spread constraints" }] as const;
const unlabelled = [
  {
    plugin: name,
    text: "node(s) didn't match pod topology spread constraints (missing required label)",
    unresolvable: true,
  },
] as const;

interface Counted {
  readonly constraint: SpreadConstraint;
  readonly counts: DomainCounts;
}

interface Hard extends Counted {
  readonly changes: Changes;
  /** Minimum number of pods in any domain, including the changes. */
  readonly least: number;
  /** 1 if the pod matches its own constraint. */
  readonly itself: 0 | 1;
}

interface Soft {
  readonly constraints: readonly (Counted & { readonly weight: number })[];
  readonly ignores: (node: Node) => boolean;
}

/** Spreads similar pods over zones, nodes or other labels of nodes. */
export const topologySpread: Plugin<readonly Hard[], Soft> = {
  name,
  preFilter({ pod }, cluster) {
    const constraints = spreadConstraints(pod, 'DoNotSchedule');
    if (constraints.length === 0) return 'skip';
    const state = constraints.map((constraint) => {
      const counts = cluster.counts(constraint.query);
      const itself: 0 | 1 = counts.matches(pod) ? 1 : 0;
      return hard({ constraint, counts }, noChanges, itself);
    });
    return { state };
  },

  filter(_pod, { node }, state) {
    for (const { constraint, counts, changes, least, itself } of state) {
      const domain = labelOf(node, constraint.topologyKey);
      if (domain === undefined) return unlabelled;
      const there = counts.in(domain) + (changes.get(domain) ?? 0);
      if (there + itself - least > constraint.maxSkew) return uneven;
    }
    return [];
  },

  stateWith: (state, _pod, other, { name: nodeName, node }, sign) =>
    state.map((counted) => {
      const { constraint, counts, changes, itself } = counted;
      const domain = labelOf(node, constraint.topologyKey);
      if (domain === undefined || !counts.includes(nodeName) || !counts.matches(other.pod)) return counted;
      const next = new Map(changes).set(domain, (changes.get(domain) ?? 0) + sign);
      return hard({ constraint, counts }, next, itself);
    }),

  helps(event, { pod }, cluster) {
    switch (event.kind) {
      // Another domain may now have the fewest pods, or a domain may be new.
      case 'nodeAdded':
      case 'nodeRemoved':
      case 'nodeChanged':
        return (
          event.kind === 'nodeRemoved' || changedNode(event, 'labels', 'taints', 'readiness') !== undefined
        );
      case 'podPlaced':
      case 'podRemoved':
      case 'podChanged':
        return spreadConstraints(pod, 'DoNotSchedule').some(({ query }) => {
          const counts = cluster.counts(query);
          const matched = (other: Pod) => counts.matches(other);
          return event.kind === 'podChanged'
            ? matched(event.pod.pod) !== matched(event.before.pod)
            : matched(event.pod.pod);
        });
      default:
        return false;
    }
  },

  preScore({ pod }, nodes, cluster) {
    const own = spreadConstraints(pod, 'ScheduleAnyway');
    const asks = (pod.spec.topologySpreadConstraints ?? []).length > 0;
    const constraints = asks ? own : defaultConstraints(pod, cluster.siblingsOf(pod));
    if (constraints.length === 0) return 'skip';
    // A node without a zone is only spread by its host name under the default constraints.
    const ignores = (node: Node) =>
      asks && constraints.some(({ topologyKey }) => labelOf(node, topologyKey) === undefined);
    const scored = nodes.filter(({ node }) => !ignores(node));
    const counted = constraints.map((constraint) => ({
      constraint,
      counts: cluster.counts(constraint.query),
      weight: Math.log(domainsAmong(scored, constraint.topologyKey) + 2),
    }));
    return { state: { constraints: counted, ignores } };
  },

  /** Returns the weighted number of matching pods in the node's domains; lower is better. */
  score(_pod, { node }, { constraints, ignores }) {
    if (ignores(node)) return Number.NaN;
    let score = 0;
    for (const { constraint, counts, weight } of constraints) {
      const domain = labelOf(node, constraint.topologyKey);
      if (domain !== undefined) score += counts.in(domain) * weight + constraint.maxSkew - 1;
    }
    return score;
  },

  normalize(scores) {
    let [most, least] = [0, Number.POSITIVE_INFINITY];
    for (const score of scores) {
      if (score > most) most = score;
      if (score < least) least = score;
    }
    const normal = (score: number) => (most === 0 ? maxScore : (maxScore * (most + least - score)) / most);
    for (const [index, score] of scores.entries()) scores[index] = Number.isNaN(score) ? 0 : normal(score);
  },
  weight: 2,
};

const noChanges: Changes = new Map();

function hard({ constraint, counts }: Counted, changes: Changes, itself: 0 | 1): Hard {
  const least = counts.domains < constraint.minDomains ? 0 : counts.minimum(changes);
  return { constraint, counts, changes, least, itself };
}

function domainsAmong(nodes: readonly NodeInfo[], key: string): number {
  const domains = new Set<string>();
  for (const { node } of nodes) {
    const domain = labelOf(node, key);
    if (domain !== undefined) domains.add(domain);
  }
  return domains.size;
}

function labelOf({ metadata: { labels } }: Node, key: string): string | undefined {
  return labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
}
