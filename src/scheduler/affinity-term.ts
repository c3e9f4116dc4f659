/** Parses a pod's affinity and anti-affinity to other pods into terms, once per pod. Pure. */
import type { Pod } from '../api/core/v1/pod/pod.ts';
import type { PodAffinityTerm } from '../api/core/v1/types.gen.ts';
import {
  type Labels,
  matches,
  nothing,
  type Selector,
  selectorFromLabelSelector,
} from '../apimachinery/labels.ts';
import { queryId } from './query-id.ts';

/** Selects pods by namespace and labels. */
export interface PodMatcher {
  /** Identifier that is equal for matchers of the same pods. */
  readonly id: string;
  readonly namespaces: readonly string[];
  /** Selects further namespaces by their labels, in addition to `namespaces`. */
  readonly namespaceSelector: Selector;
  readonly selector: Selector;
}

export interface AffinityTerm extends PodMatcher {
  readonly topologyKey: string;
}

export interface WeightedTerm {
  readonly term: AffinityTerm;
  readonly weight: number;
}

/** Returns the term. A term without a namespace refers to the pod's own. */
export function affinityTerm(term: PodAffinityTerm, ownNamespace: string): AffinityTerm {
  const { namespaces: named = [], namespaceSelector, labelSelector, topologyKey } = term;
  const namespaces = named.length === 0 && !namespaceSelector ? [ownNamespace] : [...new Set(named)].sort();
  return {
    id: queryId([namespaces, namespaceSelector ?? null, labelSelector ?? null]),
    namespaces,
    namespaceSelector: selectorFromLabelSelector(namespaceSelector),
    selector: selectorFromLabelSelector(labelSelector),
    topologyKey,
  };
}

/** Returns the matcher of the pods of one namespace that a selector selects. */
export const podsOf = (namespace: string, selector: Selector): PodMatcher => ({
  id: queryId([[namespace], null, selector]),
  namespaces: [namespace],
  namespaceSelector: nothing,
  selector,
});

export function matchesPod(matcher: PodMatcher, { metadata }: Pod, ofNamespace: NamespaceLabels): boolean {
  const { namespace = '' } = metadata;
  return matches(matcher.selector, metadata.labels) && meansNamespace(matcher, namespace, ofNamespace);
}

export type NamespaceLabels = (namespace: string) => Labels | undefined;

export const meansNamespace = (
  { namespaces, namespaceSelector }: PodMatcher,
  namespace: string,
  ofNamespace: NamespaceLabels,
): boolean => namespaces.includes(namespace) || matches(namespaceSelector, ofNamespace(namespace));
