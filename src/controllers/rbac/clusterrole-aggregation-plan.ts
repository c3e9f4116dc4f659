/**
 * Computes the rules of an aggregated ClusterRole (upstream: pkg/controller/clusterroleaggregation). Pure.
 */
import type { ClusterRole, PolicyRule } from '../../api/rbac/v1/types.gen.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { matches, selectorFromLabelSelector } from '../../apimachinery/labels.ts';

/** Returns the rules that the role should have, or undefined if it is not aggregated or already has them. */
export function planAggregation(role: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] | undefined {
  const { aggregationRule, metadata, rules = [] } = role;
  if (!aggregationRule) return undefined;
  const others = all
    .filter((other) => other.metadata.name !== metadata.name)
    .sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  const sources = (aggregationRule.clusterRoleSelectors ?? [])
    .map(selectorFromLabelSelector)
    .flatMap((selector) => others.filter((other) => matches(selector, other.metadata.labels)));
  const sum = new Map<string, PolicyRule>();
  for (const rule of sources.flatMap((source) => source.rules ?? []))
    if (!sum.has(keyOf(rule))) sum.set(keyOf(rule), rule);
  const wanted = [...sum.values()];
  return deepEqual(wanted, [...rules]) ? undefined : wanted;
}

/** Returns equal keys for equivalent rules; an empty list equals an absent one. */
const keyOf = ({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule) => JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
