/** Which rules a ClusterRole has that is the sum of others (upstream: pkg/controller/clusterroleaggregation). Pure. */
import type { ClusterRole, PolicyRule } from '../../api/rbac/v1/types.gen.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { matches, selectorFromLabelSelector } from '../../apimachinery/labels.ts';

/** Its rules as they should be, where that is not how they are; undefined for a role that is no sum or is right. */
export function planAggregation(role: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] | undefined {
  const { aggregationRule, metadata, rules = [] } = role;
  if (!aggregationRule) return undefined;
  const others = all
    .filter((other) => other.metadata.name !== metadata.name)
    .sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  const sum = new Map<string, PolicyRule>();
  for (const selector of (aggregationRule.clusterRoleSelectors ?? []).map(selectorFromLabelSelector)) {
    for (const other of others) {
      if (!matches(selector, other.metadata.labels)) continue;
      for (const rule of other.rules ?? []) if (!sum.has(keyOf(rule))) sum.set(keyOf(rule), rule);
    }
  }
  const wanted = [...sum.values()];
  return deepEqual(wanted, [...rules]) ? undefined : wanted;
}

/** The same for rules that say the same; a list that is empty is as one that is left out. */
const keyOf = ({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule) => JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
