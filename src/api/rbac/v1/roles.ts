/** Common parts of Role and ClusterRole: rules that list permissions. */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { RulesByType } from '../../../apimachinery/type-rules.ts';
import type { PolicyRule } from './types.gen.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

export const policyRules: RulesByType = { 'rbac.v1.PolicyRule': { defaults: { verbs: [] } } };

/** Validates rules (upstream: ValidatePolicyRule). Non-resource URLs are not allowed in a namespace. */
export function validateRules(rules: readonly PolicyRule[] | undefined, namespaced: boolean): StatusCause[] {
  return (rules ?? []).flatMap((rule, index) => validateRule(rule, namespaced, `rules[${index}]`));
}

function validateRule(rule: PolicyRule, namespaced: boolean, path: string): StatusCause[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const causes: StatusCause[] = [];
  const require = (field: string, values: readonly string[], why: string) => {
    if (values.length === 0) causes.push(requiredCause(`${path}.${field}`, why));
  };
  require('verbs', verbs, 'verbs must contain at least one value');
  if (nonResourceURLs.length === 0) {
    require('apiGroups', apiGroups, 'resource rules must supply at least one api group');
    require('resources', resources, 'resource rules must supply at least one resource');
    return causes;
  }
  const refuse = (why: string) => causes.push(invalidCause(`${path}.nonResourceURLs`, nonResourceURLs, why));
  if (namespaced) refuse('namespaced rules cannot apply to non-resource URLs');
  if (apiGroups.length + resources.length + resourceNames.length > 0)
    refuse('rules cannot apply to both regular resources and non-resource URLs');
  return causes;
}
