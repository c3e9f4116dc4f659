/**
 * Rules of roles, wherever they are compared: on the server and in a client. Whether the rules that somebody has allow everything that other rules would allow (upstream: component-helpers auth/rbac/validation
 * Covers). Pure. Every rule stands for single permissions (a verb on a resource of a group, perhaps with one name; or a verb on a path);
 * each must be allowed by one of the rules that are held.
 */

/** As roles hold it. */
export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

/** More are not made: lists multiply, and a rule of a few thousand words may stand for billions of permissions. */
export const mostComparisons = 1_000_000;

export interface Coverage {
  /** Single permissions that no held rule allows; empty when everything is allowed. */
  readonly missing: readonly PolicyRule[];
  /** There was more to compare than `mostComparisons`; `missing` does not say all. */
  readonly tooMany: boolean;
}

export function coverageOf(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Coverage {
  const holders = held.map(holderOf);
  const missing: PolicyRule[] = [];
  let left = mostComparisons;
  for (const rule of wanted) {
    const related = holders.filter(relatedTo(rule));
    const isOfPaths = (rule.nonResourceURLs?.length ?? 0) > 0;
    // What one rule allows as a whole need not be taken apart.
    if (!isOfPaths && related.some((holder) => coversWhole(holder, rule))) continue;
    const cost = related.reduce(
      (sum, { pathPrefixes }) => sum + 1 + (isOfPaths ? pathPrefixes.length : 0),
      1,
    );
    for (const permission of permissionsOf(rule)) {
      left -= cost;
      if (left < 0) return { missing, tooMany: true };
      if (!related.some((holder) => coversWhole(holder, permission))) missing.push(permission);
    }
  }
  return { missing, tooMany: false };
}

interface Holder {
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
  /** What paths begin with that end in `*`. */
  readonly pathPrefixes: readonly string[];
}

const holderOf = (rule: PolicyRule): Holder => ({
  verbs: new Set(rule.verbs),
  groups: new Set(rule.apiGroups),
  resources: new Set(rule.resources),
  names: new Set(rule.resourceNames),
  paths: new Set(rule.nonResourceURLs),
  pathPrefixes: (rule.nonResourceURLs ?? []).filter((path) => path.endsWith('*')).map(withoutStars),
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
function relatedTo(rule: PolicyRule): (holder: Holder) => boolean {
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

const holdsPath = ({ paths, pathPrefixes }: Holder, path: string) =>
  paths.has(path) || pathPrefixes.some((prefix) => path.startsWith(prefix));

/** All that are at its end. By hand: a pattern for it takes quadratic time where many stand before something else. */
export function withoutStars(path: string): string {
  let end = path.length;
  while (path[end - 1] === '*') end--;
  return path.slice(0, end);
}

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
