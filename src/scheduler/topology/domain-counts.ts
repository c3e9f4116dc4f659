/**
 * Counts matching pods in each domain of a topology (in each zone, on each node). The counts are updated with
 * each pod and node, so that a decision reads numbers instead of iterating over pods. Pure except for its own
 * counts.
 */
import type { Node } from '../../api/core/v1/node/node.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { matchesPod, type NamespaceLabels, type PodMatcher } from '../affinity-term.ts';

export interface CountQuery {
  /** Identifier; queries with the same id have the same counts. */
  readonly id: string;
  readonly topologyKey: string;
  /** Matchers; a pod counts if all of them match. */
  readonly pods: readonly [PodMatcher, ...PodMatcher[]];
  /** True if terminating pods count too. */
  readonly terminating: boolean;
  /** Limits the nodes, and thereby their pods; default: all nodes with a label of the topology's key. */
  readonly includes?: (node: Node) => boolean;
  /** True if domains without such a pod must be known too, for which every node has to be added. */
  readonly everyDomain: boolean;
}

/** Differences of a simulation from the actual counts, by domain. */
export type Changes = ReadonlyMap<string, number>;

interface Place {
  domain: string | undefined;
  pods: number;
}

export class DomainCounts {
  readonly query: CountQuery;
  readonly #ofNamespace: NamespaceLabels;
  readonly #places = new Map<string, Place>();
  readonly #domains = new Map<string, { pods: number; nodes: number }>();
  /** Number of domains by number of pods. */
  readonly #levels = new Map<number, number>();
  #total = 0;

  constructor(query: CountQuery, ofNamespace: NamespaceLabels) {
    this.query = query;
    this.#ofNamespace = ofNamespace;
  }

  /** Number of counted pods. */
  get total(): number {
    return this.#total;
  }

  /** Number of nodes that are held. */
  get size(): number {
    return this.#places.size;
  }

  /** Number of known domains. */
  get domains(): number {
    return this.#domains.size;
  }

  in(domain: string): number {
    return this.#domains.get(domain)?.pods ?? 0;
  }

  /** Returns true if the node, and thereby its pods, count. */
  includes(node: string): boolean {
    return this.#places.get(node)?.domain !== undefined;
  }

  /** Yields the domains that have pods. */
  *entries(): Iterable<readonly [domain: string, pods: number]> {
    for (const [domain, { pods }] of this.#domains) if (pods > 0) yield [domain, pods];
  }

  /** Returns the minimum number of pods in any domain, including the changes; 0 if there is no domain. */
  minimum(changes?: Changes): number {
    let least = Number.POSITIVE_INFINITY;
    /** Number of changed domains, by their number of pods before. */
    const changed = new Map<number, number>();
    for (const [domain, by] of changes ?? []) {
      const pods = this.#domains.get(domain)?.pods;
      if (pods === undefined) continue;
      changed.set(pods, (changed.get(pods) ?? 0) + 1);
      least = Math.min(least, pods + by);
    }
    return this.#leastLevel(least, changed);
  }

  /** Returns the minimum of `least` and the numbers of pods that some unchanged domain has. */
  #leastLevel(least: number, changed: ReadonlyMap<number, number>): number {
    let found = least;
    for (const [pods, domains] of this.#levels)
      if (pods < found && domains > (changed.get(pods) ?? 0)) found = pods;
    return found === Number.POSITIVE_INFINITY ? 0 : found;
  }

  matches(pod: Pod): boolean {
    if (pod.metadata.deletionTimestamp && !this.query.terminating) return false;
    return this.query.pods.every((matcher) => matchesPod(matcher, pod, this.#ofNamespace));
  }

  setNode(node: Node): void {
    const { name } = node.metadata;
    const place = this.#places.get(name);
    if (!place && !this.query.everyDomain) return;
    const domain = this.#domainOf(node);
    if (place && place.domain === domain) return;
    if (!place) {
      this.#open(name, domain);
      return;
    }
    this.#leave(place);
    place.domain = domain;
    this.#enter(place);
  }

  removeNode(name: string): void {
    const place = this.#places.get(name);
    if (!place) return;
    this.#leave(place);
    this.#places.delete(name);
  }

  /** Adds a matching pod to the node (1), or removes it (-1). */
  count(node: Node, sign: 1 | -1): void {
    const { name } = node.metadata;
    const place = this.#places.get(name) ?? this.#open(name, this.#domainOf(node));
    place.pods += sign;
    if (place.domain !== undefined) this.#shift(place.domain, sign, 0);
    if (place.pods === 0 && !this.query.everyDomain) this.removeNode(name);
  }

  #open(name: string, domain: string | undefined): Place {
    const place = { domain, pods: 0 };
    this.#places.set(name, place);
    this.#enter(place);
    return place;
  }

  #domainOf(node: Node): string | undefined {
    const { labels } = node.metadata;
    const { topologyKey, includes } = this.query;
    if (!labels || !Object.hasOwn(labels, topologyKey) || (includes && !includes(node))) return undefined;
    return labels[topologyKey];
  }

  #enter({ domain, pods }: Place): void {
    if (domain !== undefined) this.#shift(domain, pods, 1);
  }

  #leave({ domain, pods }: Place): void {
    if (domain !== undefined) this.#shift(domain, -pods, -1);
  }

  #shift(name: string, pods: number, nodes: number): void {
    const domain = this.#domains.get(name);
    this.#total += pods;
    if (!domain) {
      this.#domains.set(name, { pods, nodes });
      this.#level(pods, 1);
      return;
    }
    const before = domain.pods;
    domain.pods += pods;
    domain.nodes += nodes;
    if (domain.nodes === 0) {
      this.#domains.delete(name);
      this.#level(before, -1);
    } else if (pods !== 0) {
      this.#level(before, -1);
      this.#level(domain.pods, 1);
    }
  }

  #level(pods: number, sign: 1 | -1): void {
    const count = (this.#levels.get(pods) ?? 0) + sign;
    if (count === 0) this.#levels.delete(pods);
    else this.#levels.set(pods, count);
  }
}
