/**
 * Affinity terms of the placed pods, each with the domains of its holders. A new pod is checked against the
 * terms that select it. Equal terms of many pods are held once. Pure except for its own counts.
 */
import type { Node } from '../../api/core/v1/node/node.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { type AffinityTerm, matchesPod, type NamespaceLabels } from '../affinity-term.ts';
import type { PodInfo } from '../node-info.ts';
import { SelectorBuckets } from './selector-buckets.ts';

/**
 * Kind of a term. `away`: required anti-affinity; `near`: required affinity; `weighted`: preferred, with a
 * negative weight for anti-affinity.
 */
export type Bond = 'away' | 'near' | 'weighted';

export interface HeldTerm {
  readonly bond: Bond;
  readonly term: AffinityTerm;
  /** Weight; 1 if the bond is not weighted. */
  readonly weight: number;
  /** Number of pods with this term, by domain of its topology. */
  readonly domains: ReadonlyMap<string, number>;
}

interface Held extends HeldTerm {
  readonly domains: Map<string, number>;
  /** Number of pods with this term, including those on nodes without a label of the topology's key. */
  holders: number;
}

export class HeldTerms {
  readonly #byId = new Map<string, Held>();
  readonly #buckets = new SelectorBuckets<Held>();
  readonly #ofNamespace: NamespaceLabels;

  constructor(ofNamespace: NamespaceLabels) {
    this.#ofNamespace = ofNamespace;
  }

  about(pod: Pod): readonly HeldTerm[] {
    const found: HeldTerm[] = [];
    for (const held of this.#buckets.candidates(pod.metadata.labels))
      if (matchesPod(held.term, pod, this.#ofNamespace)) found.push(held);
    return found;
  }

  /** Adds the terms of a pod on the node (1), or removes them (-1). */
  count(pod: PodInfo, node: Node, sign: 1 | -1): void {
    for (const term of pod.antiAffinity) this.#count('away', term, 1, node, sign);
    for (const term of pod.affinity) this.#count('near', term, 1, node, sign);
    for (const { term, weight } of pod.preferred) this.#count('weighted', term, weight, node, sign);
  }

  #count(bond: Bond, term: AffinityTerm, weight: number, node: Node, sign: 1 | -1): void {
    const id = `${bond} ${weight} ${term.topologyKey} ${term.id}`;
    const held = this.#byId.get(id) ?? this.#open(id, { bond, term, weight, domains: new Map(), holders: 0 });
    held.holders += sign;
    if (held.holders === 0) {
      this.#byId.delete(id);
      this.#buckets.delete(held, held.term.selector);
    }
    const { labels } = node.metadata;
    const domain = labels && Object.hasOwn(labels, term.topologyKey) ? labels[term.topologyKey] : undefined;
    if (domain === undefined) return;
    const count = (held.domains.get(domain) ?? 0) + sign;
    if (count === 0) held.domains.delete(domain);
    else held.domains.set(domain, count);
  }

  #open(id: string, held: Held): Held {
    this.#byId.set(id, held);
    this.#buckets.add(held, held.term.selector);
    return held;
  }
}
