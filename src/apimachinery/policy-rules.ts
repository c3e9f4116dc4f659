/**
 * Rules of roles, wherever they are compared: on the server and in a client. Whether the rules that somebody has allow everything that other rules would allow (upstream: component-helpers auth/rbac/validation
 * Covers). Pure. Every rule stands for single permissions (a verb on a resource of a group, perhaps with one name; or a verb on a path);
 * each must be allowed by one of the rules that are held.
 */
import { withoutTrailing } from '../base/trailing.ts';
import type { Steps } from './steps.ts';

/** As roles hold it. */
export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

/**
 * More are not made: lists multiply, a rule of a few thousand words may stand for billions of permissions, and as many rules may be
 * compared with as many others.
 */
export const mostComparisons = 1_000_000;

/** Comparisons between two steps: a few milliseconds. */
const inOneStep = 10_000;

/** Of a list, so many words are looked up while one comparison is made. */
const wordsInOne = 8;

export interface Coverage {
  /** Single permissions that no held rule allows; empty when everything is allowed. */
  readonly missing: readonly PolicyRule[];
  /** There was more to compare than `mostComparisons`; `missing` does not say all. */
  readonly tooMany: boolean;
}

export function* coverageOf(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Steps<Coverage> {
  const budget = new Budget();
  const holders = yield* holdersOf(held, budget);
  const missing: PolicyRule[] = [];
  for (const rule of wanted) {
    if (budget.isSpent) break;
    const related = yield* relatedTo(holders, rule, budget);
    // What one rule allows as a whole need not be taken apart.
    if (related !== 'covered') yield* missingOf(rule, related, budget, missing);
  }
  return { missing, tooMany: budget.isSpent };
}

function* holdersOf(rules: readonly PolicyRule[], budget: Budget): Steps<Holder[]> {
  const holders: Holder[] = [];
  for (const rule of rules) {
    if (budget.take(costOf(rule))) yield;
    if (budget.isSpent) break;
    holders.push(holderOf(rule));
  }
  return holders;
}

/** Those that may allow any of what the rule does, unless one of them allows all of it. */
function* relatedTo(
  holders: readonly Holder[],
  rule: PolicyRule,
  budget: Budget,
): Steps<readonly Holder[] | 'covered'> {
  const cost = costOf(rule);
  const isRelated = isSingle(rule) ? () => true : relationTo(rule);
  const related: Holder[] = [];
  for (const holder of holders) {
    const paths = prefixCost(holder, rule);
    const isOneStep = paths <= inOneStep;
    if (budget.take(cost + (isOneStep ? paths : 0))) yield;
    if (budget.isSpent) break;
    if (!isRelated(holder)) continue;
    if (isOneStep && coversWhole(holder, rule)) return 'covered';
    related.push(holder);
  }
  return related;
}

/** Adds to `missing` what none of the holders allows. */
function* missingOf(
  rule: PolicyRule,
  holders: readonly Holder[],
  budget: Budget,
  missing: PolicyRule[],
): Steps<void> {
  for (const permission of permissionsOf(rule)) {
    const cost = holders.reduce((sum, holder) => sum + 1 + prefixCost(holder, permission), 1);
    if (budget.take(cost)) yield;
    if (budget.isSpent) return;
    if (!holders.some((holder) => coversWhole(holder, permission))) missing.push(permission);
  }
}

/** How many comparisons are left. */
class Budget {
  #left = mostComparisons;

  /** True when it is time for others. */
  take(comparisons: number): boolean {
    const before = Math.floor(this.#left / inOneStep);
    this.#left -= comparisons;
    return Math.floor(this.#left / inOneStep) < before;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }
}

/** Comparisons that it takes to look at the rule as a whole. */
const costOf = ({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule) =>
  1 + (verbs.length + apiGroups.length + resources.length + resourceNames.length) / wordsInOne;

/** What comes to that of paths: each is compared with all that end in a star. */
const prefixCost = ({ prefixes }: Holder, { nonResourceURLs = [] }: PolicyRule) =>
  (nonResourceURLs.length * (prefixes.length + 1)) / wordsInOne;

/** Whether it is one permission that cannot be taken apart. */
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
  /** What paths begin with that end in a star. */
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

/** Whether the rule that is held allows, by itself, everything that the other does. */
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

/** Tells of a holder whether it may allow any of what the rule does. The smaller list of two is walked. */
function relationTo(rule: PolicyRule): (holder: Holder) => boolean {
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

/** The subresource of whatever resource, such as `*` and its `/scale`; empty without one. */
function ofAny(resource: string): string[] {
  const slash = resource.indexOf('/');
  return slash < 0 ? [] : [`*${resource.slice(slash)}`];
}

const holds = (values: ReadonlySet<string>, value: string) => values.has('*') || values.has(value);

const holdsResource = (resources: ReadonlySet<string>, resource: string) =>
  holds(resources, resource) || ofAny(resource).some((any) => resources.has(any));

/** All that are at its end. */
export const withoutStars = (path: string) => withoutTrailing(path, '*');

const holdsPath = ({ paths, prefixes }: Holder, path: string) =>
  paths.has(path) || prefixes.some((prefix) => path.startsWith(prefix));

/** A word that a list says twice counts once. */
export function* permissionsOf(rule: PolicyRule): Generator<PolicyRule> {
  const verbs = new Set(rule.verbs);
  const names = new Set(rule.resourceNames);
  for (const group of new Set(rule.apiGroups)) {
    for (const resource of new Set(rule.resources)) {
      for (const verb of verbs) {
        const permission = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (names.size === 0) yield permission;
        for (const name of names) yield { ...permission, resourceNames: [name] };
      }
    }
  }
  for (const path of new Set(rule.nonResourceURLs))
    for (const verb of verbs) yield { nonResourceURLs: [path], verbs: [verb] };
}

/** Permissions that differ by their verb alone, as one rule. Keeps their order. */
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

/** As upstream prints it in a refusal: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
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
  const told = Object.entries(parts).flatMap(([name, values = []]) =>
    values.length > 0 ? [`${name}:${listInWords(values)}`] : [],
  );
  return `{${told.join(', ')}}`;
}

/** A list of texts as Go prints it. */
export const listInWords = (values: readonly string[]) =>
  `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
