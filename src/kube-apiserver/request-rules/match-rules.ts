/** Decides which rules of webhooks and policies select a request (upstream: webhook/predicates/rules). Pure. */
import type {
  MatchResources,
  NamedRuleWithOperations,
  RuleWithOperations,
} from '../../api/admissionregistration/v1/types.gen.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { isForNamespace, type RequestTarget } from './request-target.ts';

type MatchPolicy = MatchResources['matchPolicy'];

/**
 * Returns the version of the kind in which the first matching rule names it; undefined if no rule matches.
 * With the policy `Equivalent`, rules for other versions of the same kind match after all rules for the
 * request's own version.
 */
export function matchingVersion(
  rules: readonly (RuleWithOperations | NamedRuleWithOperations)[],
  policy: MatchPolicy,
  target: RequestTarget,
): ResourceDefinition | undefined {
  const { served, versions } = target;
  if (rules.some((rule) => ruleMatches(rule, target, served))) return served;
  if (policy === 'Exact') return undefined;
  const others = versions.filter((version) => version !== served);
  for (const rule of rules) {
    const found = others.find((version) => ruleMatches(rule, target, version));
    if (found) return found;
  }
  return undefined;
}

/** Returns whether the rule selects the request when the kind is addressed in the version `as`. */
function ruleMatches(
  rule: RuleWithOperations | NamedRuleWithOperations,
  target: RequestTarget,
  as: ResourceDefinition,
): boolean {
  return (
    matchesScope(rule.scope, target) &&
    namesOrAll(rule.operations, target.operation) &&
    namesOrAll(rule.apiGroups, as.group) &&
    namesOrAll(rule.apiVersions, as.version) &&
    (rule.resources ?? []).some((resource) => matchesResource(resource, as.plural, target.subresource)) &&
    matchesName(rule, target.name)
  );
}

function matchesScope(scope: string | undefined, target: RequestTarget): boolean {
  const isClusterScoped = isForNamespace(target) || target.namespace === '';
  switch (scope) {
    case 'Namespaced':
      return !isClusterScoped;
    case 'Cluster':
      return isClusterScoped;
    default:
      return true;
  }
}

const namesOrAll = (names: readonly string[] | undefined, name: string) =>
  names?.some((one) => one === '*' || one === name) ?? false;

/** Compares a rule's resource, `NAME` or `NAME/SUBRESOURCE`; without a subresource it means the object itself. */
function matchesResource(resource: string, plural: string, subresource: string): boolean {
  const end = resource.indexOf('/');
  const name = end < 0 ? resource : resource.slice(0, end);
  const part = end < 0 ? '' : resource.slice(end + 1);
  return (name === '*' || name === plural) && (part === '*' || part === subresource);
}

function matchesName(rule: RuleWithOperations | NamedRuleWithOperations, name: string): boolean {
  const names = 'resourceNames' in rule ? rule.resourceNames : undefined;
  return !names?.length || names.includes(name);
}
