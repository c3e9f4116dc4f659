/**
 * Caches counts that decisions have requested. Each is computed once and then updated, until many others have
 * been requested. Pure except for its own cache.
 */
import type { Node } from '../../api/core/v1/node/node.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { meansNamespace, type NamespaceLabels } from '../affinity-term.ts';
import { type CountQuery, DomainCounts } from './domain-counts.ts';
import { SelectorBuckets } from './selector-buckets.ts';

/** Maximum number of counts; larger than the number of kinds of pods at a time in most clusters. */
const maxKept = 2_048;
/** Maximum number of places in all counts; each takes about a hundred bytes. */
const maxPlaces = 300_000;

/** Source from which counts are computed at the first request. */
export interface Placements {
  readonly knownNodes: Iterable<Node>;
  readonly namespaces: Iterable<string>;
  /** Returns the pods on known nodes. */
  podsIn(namespace: string): Iterable<{ readonly pod: Pod; readonly node: Node }>;
}

export class LiveCounts {
  readonly #placements: Placements;
  readonly #ofNamespace: NamespaceLabels;
  /** Counts by id, in order of the last request. */
  readonly #kept = new Map<string, DomainCounts>();
  readonly #buckets = new SelectorBuckets<DomainCounts>();

  constructor(placements: Placements, ofNamespace: NamespaceLabels) {
    this.#placements = placements;
    this.#ofNamespace = ofNamespace;
  }

  /** Number of cached counts. */
  get size(): number {
    return this.#kept.size;
  }

  of(query: CountQuery): DomainCounts {
    const known = this.#kept.get(query.id);
    if (known) {
      this.#kept.delete(query.id);
      this.#kept.set(query.id, known);
      return known;
    }
    const made = this.#make(query);
    this.#kept.set(query.id, made);
    this.#buckets.add(made, selectorOf(made));
    this.#dropOldest();
    return made;
  }

  countPod(pod: Pod, node: Node, sign: 1 | -1): void {
    for (const counts of this.#buckets.candidates(pod.metadata.labels))
      if (counts.matches(pod)) counts.count(node, sign);
  }

  setNode(node: Node): void {
    for (const counts of this.#kept.values()) counts.setNode(node);
  }

  removeNode(name: string): void {
    for (const counts of this.#kept.values()) counts.removeNode(name);
  }

  /** Drops counts that depend on labels of namespaces; they are computed again at the next request. */
  forgetNamespaceSelections(): void {
    for (const counts of [...this.#kept.values()])
      if (counts.query.pods.some(({ namespaceSelector }) => namespaceSelector.requirements.length > 0))
        this.#drop(counts);
  }

  /** Drops the oldest counts beyond the limits. The newest is always kept. */
  #dropOldest(): void {
    let places = 0;
    for (const counts of this.#kept.values()) places += counts.size;
    for (const counts of this.#kept.values()) {
      if (this.#kept.size === 1 || (this.#kept.size <= maxKept && places <= maxPlaces)) return;
      places -= counts.size;
      this.#drop(counts);
    }
  }

  #drop(counts: DomainCounts): void {
    this.#kept.delete(counts.query.id);
    this.#buckets.delete(counts, selectorOf(counts));
  }

  #make(query: CountQuery): DomainCounts {
    const counts = new DomainCounts(query, this.#ofNamespace);
    if (query.everyDomain) for (const node of this.#placements.knownNodes) counts.setNode(node);
    const [matcher] = query.pods;
    const namespaces = [...this.#placements.namespaces];
    for (const namespace of namespaces.filter((name) => meansNamespace(matcher, name, this.#ofNamespace)))
      for (const { pod, node } of this.#placements.podsIn(namespace))
        if (counts.matches(pod)) counts.count(node, 1);
    return counts;
  }
}

const selectorOf = ({ query }: DomainCounts) => query.pods[0].selector;
