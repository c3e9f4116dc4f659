/**
 * The counts that decisions have asked for, each made once and then kept up to date until many others were asked for since. Pure
 * but for what it keeps.
 */
import type { Node } from '../../api/core/v1/node.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import { meansNamespace, type NamespaceLabels } from '../affinity-term.ts';
import { type CountQuery, DomainCounts } from './domain-counts.ts';
import { SelectorBuckets } from './selector-buckets.ts';

/** More than there are kinds of pods at a time in most clusters. */
const mostKept = 2_048;
/** In all of them together; each takes about a hundred bytes. */
const mostPlaces = 300_000;

/** What counts are made of when they are asked for first. */
export interface Placements {
  readonly knownNodes: Iterable<Node>;
  readonly namespaces: Iterable<string>;
  /** Those on nodes that are known. */
  podsIn(namespace: string): Iterable<{ readonly pod: Pod; readonly node: Node }>;
}

export class LiveCounts {
  readonly #placements: Placements;
  readonly #ofNamespace: NamespaceLabels;
  /** By id; the one that was asked for last comes last. */
  readonly #kept = new Map<string, DomainCounts>();
  readonly #buckets = new SelectorBuckets<DomainCounts>();

  constructor(placements: Placements, ofNamespace: NamespaceLabels) {
    this.#placements = placements;
    this.#ofNamespace = ofNamespace;
  }

  /** How many are kept. */
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

  /** What was counted by labels of namespaces is counted anew when it is asked for. */
  forgetNamespaceSelections(): void {
    for (const counts of [...this.#kept.values()])
      if (counts.query.pods.some(({ namespaceSelector }) => namespaceSelector.requirements.length > 0))
        this.#drop(counts);
  }

  /** What was made last stays, whatever it takes. */
  #dropOldest(): void {
    let places = 0;
    for (const counts of this.#kept.values()) places += counts.size;
    for (const counts of this.#kept.values()) {
      if (this.#kept.size === 1 || (this.#kept.size <= mostKept && places <= mostPlaces)) return;
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
