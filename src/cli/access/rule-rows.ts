/** A user's permissions as `auth can-i --list` prints them. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { compactRules, type PolicyRule, permissionsOf } from '../../apimachinery/policy-rules.ts';
import { recordsAt } from '../objects/objects.ts';
import { readRule } from './read-policy.ts';

export const ruleHeaders = ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'] as const;

/**
 * Returns the rows for the status of a SelfSubjectRulesReview; permissions that differ only in the verb share
 * a row.
 */
export function ruleRows(status: JsonObject): string[][] {
  const permissions = (field: string) =>
    recordsAt(status, field).flatMap((rule) => [...permissionsOf(readRule(rule))]);
  // Paths are not merged: kubectl prints a path once for each rule that has it.
  return [...permissions('nonResourceRules'), ...compactRules(permissions('resourceRules'))]
    .map((rule) => ({ rule, order: orderOf(rule) }))
    .sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
    .map(({ rule }) => rowOf(rule));
}

/** Rows are sorted by Go's text form of a rule, as in kubectl. */
const orderOf = ({ apiGroups, nonResourceURLs, resourceNames, resources, verbs }: PolicyRule) =>
  `Verbs:${inBrackets(verbs)},APIGroups:${inBrackets(apiGroups)},Resources:${inBrackets(
    resources,
  )},ResourceNames:${inBrackets(resourceNames)},NonResourceURLs:${inBrackets(nonResourceURLs)},`;

const rowOf = ({ apiGroups, nonResourceURLs, resourceNames, resources, verbs }: PolicyRule): string[] => [
  qualified(apiGroups?.[0] ?? '', resources?.[0] ?? ''),
  inBrackets(nonResourceURLs),
  inBrackets(resourceNames),
  inBrackets(verbs),
];

/** Returns a name such as `deployments.apps/scale`. */
function qualified(group: string, resource: string): string {
  const [plural = '', ...subresource] = resource.split('/');
  const name = group ? `${plural}.${group}` : plural;
  return [name, ...(subresource.length > 0 ? [subresource.join('/')] : [])].join('/');
}

/** Formats a list as Go prints it. */
export const inBrackets = (values: readonly string[] = []) => `[${values.join(' ')}]`;
