/** What somebody may do, as `auth can-i --list` prints it. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { recordsAt, valueAt } from '../objects.ts';

export const ruleHeaders = ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'] as const;

interface Permission {
  readonly group: string;
  readonly resource: string;
  readonly name: string | undefined;
  readonly url: string | undefined;
  readonly verbs: readonly string[];
}

/** Rows of the status of a SelfSubjectRulesReview; what differs by its verb alone is one row. */
export function ruleRows(status: JsonObject): string[][] {
  const permissions = [
    ...recordsAt(status, 'resourceRules').flatMap(ofResources),
    ...recordsAt(status, 'nonResourceRules').flatMap(ofUrls),
  ];
  return compact(permissions)
    .map((permission) => ({ permission, order: orderOf(permission) }))
    .sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
    .map(({ permission }) => rowOf(permission));
}

const words = (rule: JsonObject, field: string): string[] => {
  const list = valueAt(rule, field);
  return Array.isArray(list) ? list.map(String) : [];
};

function ofResources(rule: JsonObject): Permission[] {
  const names = words(rule, 'resourceNames');
  return words(rule, 'apiGroups').flatMap((group) =>
    words(rule, 'resources').flatMap((resource) =>
      words(rule, 'verbs').flatMap((verb) =>
        (names.length > 0 ? names : [undefined]).map((name) => ({
          ...{ group, resource, name, url: undefined },
          verbs: [verb],
        })),
      ),
    ),
  );
}

const ofUrls = (rule: JsonObject): Permission[] =>
  words(rule, 'nonResourceURLs').flatMap((url) =>
    words(rule, 'verbs').map((verb) => ({ group: '', resource: '', name: undefined, url, verbs: [verb] })),
  );

function compact(permissions: readonly Permission[]): Permission[] {
  const urls = permissions.filter(({ url }) => url !== undefined);
  const byResource = Map.groupBy(
    permissions.filter(({ url }) => url === undefined),
    ({ group, resource, name }) => JSON.stringify([group, resource, name]),
  );
  const merged = [...byResource.values()].flatMap(([first, ...more]) =>
    first ? [{ ...first, verbs: [...new Set([first, ...more].flatMap(({ verbs }) => verbs))] }] : [],
  );
  return [...urls, ...merged];
}

/** kubectl sorts by what Go prints of a rule. */
const orderOf = ({ group, resource, name, url, verbs }: Permission) =>
  `Verbs:${inBrackets(verbs)},APIGroups:${inBrackets(url === undefined ? [group] : [])},Resources:${inBrackets(
    url === undefined ? [resource] : [],
  )},ResourceNames:${inBrackets(name)},NonResourceURLs:${inBrackets(url)},`;

const rowOf = ({ group, resource, name, url, verbs }: Permission): string[] => [
  url === undefined ? qualified(group, resource) : '',
  inBrackets(url),
  inBrackets(name),
  inBrackets(verbs),
];

/** `deployments.apps/scale` */
function qualified(group: string, resource: string): string {
  const [plural = '', ...subresource] = resource.split('/');
  return [
    group ? `${plural}.${group}` : plural,
    ...(subresource.length > 0 ? [subresource.join('/')] : []),
  ].join('/');
}

const inBrackets = (values: string | readonly string[] = []) => `[${[values].flat().join(' ')}]`;
