/**
 * Comparison of RBAC rules, used by the server and by a client: finds out if held rules allow everything that
 * other rules would allow (upstream: component-helpers auth/rbac/validation Covers). Pure. Every rule stands
 * for single permissions (a verb on a resource of a group, perhaps with one name; or a verb on a path). Each
 * of them must be allowed by one of the held rules.
 */
import { withoutTrailing } from '../base/trailing.ts';
import type { Steps } from './steps.ts';

/** A rule as roles have it. */
export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

/**
 * Maximum number of comparisons. Lists multiply: a rule of a few thousand words may stand for billions of
 * permissions, and as many rules may be compared with as many others.
 */
export const maxComparisons = 1_000_000;

/** Comparisons between two steps; they take a few milliseconds. */
const inOneStep = 10_000;

/** Words of a list that can be looked up in the time of one comparison. */
const wordsInOne = 8;

export interface Coverage {
  /** Single permissions that no held rule allows; empty when everything is allowed. */
  readonly missing: readonly PolicyRule[];
  /** True if more than `maxComparisons` were necessary; `missing` is then incomplete. */
  readonly tooMany: boolean;
}

export function* coverageOf(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Steps<Coverage> {
  const budget = new Budget();
  const holders = yield* holdersOf(held, budget);
  const missing: PolicyRule[] = [];
  for (const rule of wanted) {
    if (budget.isSpent) break;
    const related = yield* relatedTo(holders, rule, budget);
    // A rule that a single held rule allows as a whole is not split.
    if (related !== 'covered') yield* missingOf(rule, related, budget, missing);
  }
  return { missing, tooMany: budget.isSpent };
}

function* holdersOf(rules: readonly PolicyRule[], budget: Budget): Steps<Holder[]> {
  const holders: Holder[] = [];
  for (const rule of rules) {
    if (!(yield* budget.spend(costOf(rule)))) break;
    holders.push(holderOf(rule));
  }
  return holders;
}

/** Returns the holders that may allow a part of the rule, or 'covered' if one of them allows all of it. */
function* relatedTo(
  holders: readonly Holder[],
  rule: PolicyRule,
  budget: Budget,
): Steps<readonly Holder[] | 'covered'> {
  const cost = costOf(rule);
  const isRelated = relationTo(rule);
  const related: Holder[] = [];
  for (const holder of holders) {
    const paths = prefixCost(holder, rule);
    const isOneStep = paths <= inOneStep;
    if (!(yield* budget.spend(cost + costInOneStep(paths)))) break;
    if (!isRelated(holder)) continue;
    if (isOneStep && coversWhole(holder, rule)) return 'covered';
    related.push(holder);
  }
  return related;
}

/** Adds to `missing` the permissions that none of the holders allows. */
function* missingOf(
  rule: PolicyRule,
  holders: readonly Holder[],
  budget: Budget,
  missing: PolicyRule[],
): Steps<void> {
  for (const permission of permissionsOf(rule)) {
    const cost = holders.reduce((sum, holder) => sum + 1 + prefixCost(holder, permission), 1);
    if (!(yield* budget.spend(cost))) return;
    if (!holders.some((holder) => coversWhole(holder, permission))) missing.push(permission);
  }
}

/** Number of comparisons that are left. */
class Budget {
  #left = maxComparisons;

  /** Counts comparisons, and yields to other requests between steps. Returns false when none are left. */
  *spend(comparisons: number): Steps<boolean> {
    const before = Math.floor(this.#left / inOneStep);
    this.#left -= comparisons;
    if (Math.floor(this.#left / inOneStep) < before) yield;
    return !this.isSpent;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }
}

/** Returns the cost, in comparisons, of checking a rule as a whole. */
const costOf = ({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule) =>
  1 + (verbs.length + apiGroups.length + resources.length + resourceNames.length) / wordsInOne;

/** Returns the additional cost for paths: each path is compared with all prefixes. */
const prefixCost = ({ prefixes }: Holder, { nonResourceURLs = [] }: PolicyRule) =>
  (nonResourceURLs.length * (prefixes.length + 1)) / wordsInOne;

/** Returns the cost of comparing the paths as a whole; 0 if that takes more than one step and is not done. */
const costInOneStep = (paths: number) => (paths <= inOneStep ? paths : 0);

/** Returns true if the rule is a single permission that cannot be split. */
const isSingle = ({ verbs, apiGroups, resources, resourceNames = [], nonResourceURLs = [] }: PolicyRule) =>
  verbs.length === 1 &&
  (nonResourceURLs.length > 0
    ? nonResourceURLs.length === 1
    : apiGroups?.length === 1 && resources?.length === 1 && resourceNames.length <= 1);

interface Holder {
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
  /** Paths that end in a star, without the star. */
  readonly prefixes: readonly string[];
}

const holderOf = ({
  verbs,
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs = [],
}: PolicyRule): Holder => ({
  verbs: new Set(verbs),
  groups: new Set(apiGroups),
  resources: new Set(resources),
  names: new Set(resourceNames),
  paths: new Set(nonResourceURLs),
  prefixes: nonResourceURLs.filter((path) => path.endsWith('*')).map(withoutStars),
});

/** Returns true if the held rule by itself allows everything that the other rule allows. */
function coversWhole(holder: Holder, rule: PolicyRule): boolean {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const hasNames =
    holder.names.size === 0 ||
    (resourceNames.length > 0 && resourceNames.every((name) => holder.names.has(name)));
  return (
    hasNames &&
    verbs.every((verb) => holds(holder.verbs, verb)) &&
    apiGroups.every((group) => holds(holder.groups, group)) &&
    resources.every((resource) => holdsResource(holder.resources, resource)) &&
    nonResourceURLs.every((path) => holdsPath(holder, path))
  );
}

/**
 * Returns a function that is true for a holder that may allow a part of the rule. Each test walks the smaller
 * of two lists. Every holder passes for a single permission, which costs no more to compare as a whole.
 */
function relationTo(rule: PolicyRule): (holder: Holder) => boolean {
  if (isSingle(rule)) return () => true;
  const { verbs, apiGroups = [], resources = [], nonResourceURLs = [] } = rule;
  const wantedVerbs = new Set(['*', ...verbs]);
  if (nonResourceURLs.length > 0)
    return (holder) => holder.paths.size > 0 && !wantedVerbs.isDisjointFrom(holder.verbs);
  const wantedGroups = new Set(['*', ...apiGroups]);
  const wantedResources = new Set(['*', ...resources, ...resources.flatMap(ofAny)]);
  return (holder) =>
    !wantedVerbs.isDisjointFrom(holder.verbs) &&
    !wantedGroups.isDisjointFrom(holder.groups) &&
    !wantedResources.isDisjointFrom(holder.resources);
}

/** Returns the subresource with `*` in place of the plural, as the only item; empty without a subresource. */
function ofAny(resource: string): string[] {
  const slash = resource.indexOf('/');
  return slash < 0 ? [] : [`*${resource.slice(slash)}`];
}

const holds = (values: ReadonlySet<string>, value: string) => values.has('*') || values.has(value);

const holdsResource = (resources: ReadonlySet<string>, resource: string) =>
  holds(resources, resource) || ofAny(resource).some((any) => resources.has(any));

/** Returns the path without the stars at its end. */
export const withoutStars = (path: string) => withoutTrailing(path, '*');

const holdsPath = ({ paths, prefixes }: Holder, path: string) =>
  paths.has(path) || prefixes.some((prefix) => path.startsWith(prefix));

/** Yields the single permissions of a rule. A duplicate word in a list counts once. */
export function* permissionsOf(rule: PolicyRule): Generator<PolicyRule> {
  const verbs = new Set(rule.verbs);
  yield* resourcePermissions(rule, verbs);
  for (const path of new Set(rule.nonResourceURLs))
    for (const verb of verbs) yield { nonResourceURLs: [path], verbs: [verb] };
}

function* resourcePermissions(rule: PolicyRule, verbs: ReadonlySet<string>): Generator<PolicyRule> {
  const names = new Set(rule.resourceNames);
  for (const group of new Set(rule.apiGroups)) {
    for (const resource of new Set(rule.resources)) {
      for (const verb of verbs)
        yield* namedPermissions({ apiGroups: [group], resources: [resource], verbs: [verb] }, names);
    }
  }
}

function* namedPermissions(permission: PolicyRule, names: ReadonlySet<string>): Generator<PolicyRule> {
  if (names.size === 0) yield permission;
  for (const name of names) yield { ...permission, resourceNames: [name] };
}

/** Joins permissions that differ only in their verbs into one rule. Keeps their order. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const compact = new Map<string, PolicyRule>();
  for (const { verbs, ...of } of rules) {
    const key = JSON.stringify([of.apiGroups, of.resources, of.resourceNames, of.nonResourceURLs]);
    const known = of.nonResourceURLs ? undefined : compact.get(key);
    if (known) known.verbs.push(...verbs.filter((verb) => !known.verbs.includes(verb)));
    else compact.set(of.nonResourceURLs ? JSON.stringify([key, verbs]) : key, { ...of, verbs: [...verbs] });
  }
  return [...compact.values()];
}

/**
 * Formats a rule as upstream does in a rejection: `{APIGroups:[""], Resources:["pods"], Verbs:["get"
 * "list"]}`.
 */
export function ruleInWords({
  apiGroups,
  resources,
  nonResourceURLs,
  resourceNames,
  verbs,
}: PolicyRule): string {
  const parts = {
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  };
  const fields = Object.entries(parts).flatMap(([name, values = []]) =>
    values.length > 0 ? [`${name}:${listInWords(values)}`] : [],
  );
  return `{${fields.join(', ')}}`;
}

/** Formats a list of texts as Go prints it. */
export const listInWords = (values: readonly string[]) =>
  `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
