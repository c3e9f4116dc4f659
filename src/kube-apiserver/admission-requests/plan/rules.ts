/** Rules of webhooks and policies (upstream: admission/plugin/webhook/predicates). */
import type {
  NamedRuleWithOperations,
  RuleWithOperations,
} from '../../../api/admissionregistration/v1/types.gen.ts';
import { webhookGroup } from '../../../api/admissionregistration/v1/webhook-configuration.ts';
import type { LabelSelector } from '../../../api/meta/v1/types.gen.ts';
import { type Labels, matches, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { type Address, type HookedRequest, isNamespace } from './request.ts';

/** Kinds that no webhook and no policy sees: one could otherwise prevent its own removal. */
const exemptKinds: ReadonlySet<string> = new Set([
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
]);

export const isExempt = ({ address: { kind } }: Pick<HookedRequest, 'address'>): boolean =>
  kind.group === webhookGroup && exemptKinds.has(kind.kind);

/**
 * Returns the address of the kind in the first matching rule; undefined if no rule matches. With the policy
 * `Equivalent`, rules for other addresses of the kind match after all rules for the request's own.
 */
export function matchedAddress(
  rules: readonly (RuleWithOperations | NamedRuleWithOperations)[],
  matchPolicy: 'Equivalent' | 'Exact' | undefined,
  request: HookedRequest,
): Address | undefined {
  const { address, equivalents } = request;
  if (rules.some((rule) => matchesRule(rule, request, address))) return address;
  if (matchPolicy !== 'Equivalent') return undefined;
  for (const rule of rules) {
    const other = equivalents.find((equivalent) => matchesRule(rule, request, equivalent));
    if (other) return other;
  }
  return undefined;
}

export function selectsObject(
  selector: LabelSelector | undefined,
  { labels, oldLabels }: HookedRequest,
): boolean {
  const parsed = selectorFromLabelSelector(selector ?? {});
  if (parsed.requirements.length === 0) return true;
  return [labels, oldLabels].some((found) => found !== undefined && matches(parsed, found));
}

/** Returns whether the selector has terms, and the request a namespace. */
export const hasNamespaceTerms = (
  selector: LabelSelector | undefined,
  { namespace, address }: HookedRequest,
): boolean =>
  (namespace !== '' || isNamespace(address)) &&
  selectorFromLabelSelector(selector ?? {}).requirements.length > 0;

export const selectsNamespaceLabels = (selector: LabelSelector | undefined, labels: Labels | undefined) =>
  matches(selectorFromLabelSelector(selector ?? {}), labels);

function matchesRule(
  rule: RuleWithOperations | NamedRuleWithOperations,
  request: HookedRequest,
  address: Address,
): boolean {
  const { operations = [], apiGroups = [], apiVersions = [] } = rule;
  return (
    matchesScope(rule.scope, request, address) &&
    holds(operations, request.operation) &&
    holds(apiGroups, address.group) &&
    holds(apiVersions, address.version) &&
    matchesResource(rule.resources ?? [], address.resource, request.subresource) &&
    matchesName(rule, request.name)
  );
}

function matchesName(rule: RuleWithOperations | NamedRuleWithOperations, name: string): boolean {
  const names = 'resourceNames' in rule ? rule.resourceNames : undefined;
  return !names?.length || names.includes(name);
}

const holds = (list: readonly string[], wanted: string) => list.includes('*') || list.includes(wanted);

function matchesScope(
  scope: NamedRuleWithOperations['scope'],
  { namespace }: HookedRequest,
  address: Address,
): boolean {
  const isClusterScoped = namespace === '' || isNamespace(address);
  if (scope === 'Cluster') return isClusterScoped;
  return scope === 'Namespaced' ? !isClusterScoped : true;
}

const matchesResource = (list: readonly string[], resource: string, subresource: string): boolean =>
  list.some((item) => {
    const slash = item.indexOf('/');
    const wanted = slash < 0 ? item : item.slice(0, slash);
    const wantedPart = slash < 0 ? '' : item.slice(slash + 1);
    return (wanted === '*' || wanted === resource) && (wantedPart === '*' || wantedPart === subresource);
  });
