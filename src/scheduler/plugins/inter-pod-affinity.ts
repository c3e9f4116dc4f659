import type { Node } from '../../api/core/v1/node/node.ts';
import { type AffinityTerm, matchesPod } from '../affinity-term.ts';
import { changedNode } from '../cluster-events.ts';
import { type Cluster, maxScore, type Plugin } from '../framework.ts';
import type { PodInfo } from '../node-info.ts';
import { queryId } from '../query-id.ts';
import type { Changes, CountQuery, DomainCounts } from '../topology/domain-counts.ts';

const name = 'InterPodAffinity';
const lonely = [
  { plugin: name, text: "node(s) didn't match pod affinity rules", unresolvable: true },
] as const;
const repelled = [{ plugin: name, text: "node(s) didn't match pod anti-affinity rules" }] as const;
const unwelcome = [
  { plugin: name, text: "node(s) didn't satisfy existing pods anti-affinity rules" },
] as const;

interface CountsWithChanges {
  readonly query: CountQuery;
  /**
   * Created when a node with the topology's key is evaluated, because a pod may name thousands of keys that
   * no node has.
   */
  readonly counts: () => DomainCounts;
  readonly changes: Changes;
}

interface State {
  readonly cluster: Cluster;
  /** Counts of the pods that all affinity terms select together, by the topology of each term. */
  readonly near: readonly CountsWithChanges[];
  /** True if the pod itself matches its affinity terms. */
  readonly nearItself: boolean;
  readonly away: readonly CountsWithChanges[];
  /**
   * Anti-affinity terms of other pods that select this pod, by topology: number of holders in each domain.
   */
  readonly others: readonly { readonly key: string; readonly domains: ReadonlyMap<string, number> }[];
}

/** Score by topology and domain. */
type Gains = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Places pods near to other pods, or away from them. */
export const interPodAffinity: Plugin<State, Gains> = {
  name,
  preFilter({ pod, affinity, antiAffinity }, cluster) {
    const others = new Map<string, ReadonlyMap<string, number>>();
    for (const { bond, term, domains } of cluster.termsAbout(pod))
      if (bond === 'away') others.set(term.topologyKey, sum(others.get(term.topologyKey), domains));
    // State is created even if no pod matches yet, because a simulation may add one that does.
    const ofNamespace = (namespace: string) => cluster.namespaceLabels(namespace);
    const state: State = {
      cluster,
      near: nearQueries(affinity).map((query) => counted(query, cluster)),
      nearItself: affinity.every((term) => matchesPod(term, pod, ofNamespace)),
      away: antiAffinity.map((term) => counted(queryOf(allOf([term]), term.topologyKey), cluster)),
      others: [...others].map(([key, domains]) => ({ key, domains })),
    };
    return { state };
  },

  filter(_pod, { node }, state) {
    if (!isNear(node, state)) return lonely;
    for (const { query, counts, changes } of state.away) {
      const domain = labelOf(node, query.topologyKey);
      if (domain !== undefined && counts().in(domain) + (changes.get(domain) ?? 0) > 0) return repelled;
    }
    return isWelcome(node, state) ? [] : unwelcome;
  },

  stateWith(state, { pod }, other, { node }, sign) {
    const ofNamespace = (namespace: string) => state.cluster.namespaceLabels(namespace);
    const means = ({ pods }: CountQuery) =>
      pods.every((matcher) => matchesPod(matcher, other.pod, ofNamespace));
    const change = (side: CountsWithChanges): CountsWithChanges => ({
      ...side,
      changes: changed(side.changes, side.query.topologyKey, node, sign),
    });
    // All affinity queries select the same pods, in different topologies.
    const [first] = state.near;
    const near = first && means(first.query) ? state.near.map(change) : state.near;
    const away = state.away.map((side) => (means(side.query) ? change(side) : side));
    let { others } = state;
    for (const term of other.antiAffinity) {
      if (!matchesPod(term, pod, ofNamespace)) continue;
      const { topologyKey: key } = term;
      const { domains = none } = others.find((one) => one.key === key) ?? {};
      others = [
        ...others.filter((one) => one.key !== key),
        { key, domains: changed(domains, key, node, sign) },
      ];
    }
    return { ...state, near, away, others };
  },

  helps(event, { pod, affinity, antiAffinity }, cluster) {
    const ofNamespace = (namespace: string) => cluster.namespaceLabels(namespace);
    const wantedNear = (other: PodInfo) =>
      affinity.length > 0 && affinity.every((term) => matchesPod(term, other.pod, ofNamespace));
    const inTheWay = (other: PodInfo) =>
      antiAffinity.some((term) => matchesPod(term, other.pod, ofNamespace)) ||
      other.antiAffinity.some((term) => matchesPod(term, pod, ofNamespace));
    switch (event.kind) {
      case 'nodeAdded':
      case 'nodeChanged':
        return changedNode(event, 'labels') !== undefined;
      case 'podPlaced':
        return wantedNear(event.pod);
      case 'podRemoved':
        // If the last wanted pod is removed, a pod that matches its own terms may become the first one.
        return inTheWay(event.pod) || wantedNear(event.pod);
      case 'podChanged':
        return (
          wantedNear(event.pod) !== wantedNear(event.before) ||
          (inTheWay(event.before) && !inTheWay(event.pod))
        );
      case 'namespaceChanged':
        return true;
      default:
        return false;
    }
  },

  preScore({ pod, preferred }, _nodes, cluster) {
    const gains = new Map<string, Map<string, number>>();
    const gain = (key: string, domain: string, by: number) => {
      const domains = gains.get(key) ?? new Map<string, number>();
      gains.set(key, domains.set(domain, (domains.get(domain) ?? 0) + by));
    };
    for (const { term, weight } of preferred)
      for (const [domain, pods] of cluster.counts(queryOf(allOf([term]), term.topologyKey)).entries())
        gain(term.topologyKey, domain, pods * weight);
    for (const { bond, term, weight, domains } of cluster.termsAbout(pod))
      if (bond !== 'away')
        for (const [domain, pods] of domains) gain(term.topologyKey, domain, pods * weight);
    return gains.size === 0 ? 'skip' : { state: gains };
  },

  score(_pod, { node }, gains) {
    let score = 0;
    for (const [key, domains] of gains) {
      const domain = labelOf(node, key);
      if (domain !== undefined) score += domains.get(domain) ?? 0;
    }
    return score;
  },

  normalize(scores) {
    const [least, most] = [scores.reduce(smaller, Infinity), scores.reduce(larger, -Infinity)];
    for (const [index, score] of scores.entries())
      scores[index] = most > least ? (maxScore * (score - least)) / (most - least) : 0;
  },
  weight: 2,
};

const smaller = (a: number, b: number) => Math.min(a, b);
const larger = (a: number, b: number) => Math.max(a, b);

const none: Changes = new Map();

function counted(query: CountQuery, cluster: Cluster): CountsWithChanges {
  let made: DomainCounts | undefined;
  const counts = () => {
    made ??= cluster.counts(query);
    return made;
  };
  return { query, counts, changes: none };
}

/** Returns true if no pod of the node's domains has an anti-affinity to the pod. */
function isWelcome(node: Node, { others }: State): boolean {
  return others.every(({ key, domains }) => {
    const domain = labelOf(node, key);
    return domain === undefined || (domains.get(domain) ?? 0) <= 0;
  });
}

function isNear(node: Node, { near, nearItself }: State): boolean {
  if (near.some(({ query }) => labelOf(node, query.topologyKey) === undefined)) return false;
  const isThere = ({ query, counts, changes }: CountsWithChanges) => {
    const domain = labelOf(node, query.topologyKey) ?? '';
    return counts().in(domain) + (changes.get(domain) ?? 0) > 0;
  };
  if (near.every(isThere)) return true;
  // The first of several pods with affinity to each other: no other is placed yet, so every node is equally
  // good.
  if (!nearItself) return false;
  return near.every(({ counts, changes }) => counts().total + sumOf(changes) === 0);
}

const sumOf = (changes: Changes) => changes.values().reduce((total, by) => total + by, 0);

/** Returns a copy in which the count of the node's domain is changed by `by`. */
function changed(changes: Changes, key: string, node: Node, by: number): Changes {
  const domain = labelOf(node, key);
  return domain === undefined ? changes : new Map(changes).set(domain, (changes.get(domain) ?? 0) + by);
}

/** Returns one query for each topology. */
const nearQueries = (terms: readonly AffinityTerm[]): CountQuery[] => {
  const all = terms.length > 0 ? allOf(terms) : undefined;
  const keys = new Set(terms.map(({ topologyKey }) => topologyKey));
  return all ? [...keys].map((key) => queryOf(all, key)) : [];
};

interface AllOf {
  readonly id: string;
  readonly pods: CountQuery['pods'];
}

/** Returns the matcher of the pods that all terms select. */
function allOf(terms: readonly AffinityTerm[]): AllOf {
  const distinct = new Map(terms.map((term) => [term.id, term]));
  const pods = [...distinct.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) as [AffinityTerm];
  return { id: queryId(pods.map(({ id }) => id)), pods };
}

const queryOf = ({ id, pods }: AllOf, topologyKey: string): CountQuery => ({
  id: JSON.stringify(['pods', topologyKey, id]),
  topologyKey,
  pods,
  terminating: true,
  everyDomain: false,
});

function sum(one: ReadonlyMap<string, number> | undefined, other: ReadonlyMap<string, number>) {
  if (!one) return other;
  const total = new Map(one);
  for (const [domain, count] of other) total.set(domain, (total.get(domain) ?? 0) + count);
  return total;
}

function labelOf({ metadata: { labels } }: Pick<Node, 'metadata'>, key: string): string | undefined {
  return labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
}
