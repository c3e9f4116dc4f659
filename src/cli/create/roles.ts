/** `ctl create role` and `clusterrole`: one rule for each API group. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { rbacGroup } from '../access/read-policy.ts';
import type { FlagTable } from '../flags/flags.ts';
import { findResource } from '../objects/discovery.ts';
import { type Generator, type Given, newMetadata, wordsOf } from './generator.ts';

const ruleFlags = {
  verb: { type: 'string', hint: 'VERB', about: 'verb to allow; may be repeated' },
  resource: {
    type: 'string',
    hint: 'RESOURCE',
    about: 'resource, such as pods, pods/log or deployments.apps; may be repeated',
  },
  'resource-name': {
    type: 'string',
    hint: 'NAME',
    about: 'object name to restrict the rule to; may be repeated',
  },
} as const satisfies FlagTable;

const role = (kind: string, name: string, rest: JsonObject): JsonObject => ({
  kind,
  apiVersion: `${rbacGroup}/v1`,
  metadata: newMetadata(name),
  ...rest,
});

const roleGenerator: Generator = {
  about: 'create a Role with one rule for each API group',
  usage: '--verb=VERB --resource=RESOURCE',
  examples: [
    'role reader --verb=get,list,watch --resource=pods,pods/log # allow reading pods and their logs',
  ],
  resource: `roles.${rbacGroup}`,
  needsResources: true,
  flags: ruleFlags,
  make(given) {
    const verbs = verbsOf(given);
    const resources = resourcesOf(given);
    if (resources.length === 0) throw new UsageError('at least one resource must be specified');
    checkVerbs(given, verbs, resources);
    return role('Role', given.name, { rules: resourceRules(given, verbs, resources) });
  },
};

const clusterRoleGenerator: Generator = {
  about: 'create a ClusterRole with rules for resources or URLs, or one that combines others',
  usage: '--verb=VERB --resource=RESOURCE',
  examples: [
    'clusterrole reader --verb=get,list,watch --resource=nodes # allow reading nodes',
    'clusterrole metrics --verb=get --non-resource-url=/metrics # allow reading a URL',
  ],
  resource: `clusterroles.${rbacGroup}`,
  clusterWide: true,
  needsResources: true,
  flags: {
    ...ruleFlags,
    'non-resource-url': {
      type: 'string',
      hint: 'PATH',
      about: 'non-resource URL, such as /metrics or /healthz/*; may be repeated',
    },
    'aggregation-rule': {
      type: 'string',
      hint: 'LABELS',
      about: 'label selector of the ClusterRoles to aggregate',
    },
  },
  make(given) {
    const { flags, name } = given;
    const labels = flags.text('aggregation-rule');
    const paths = wordsOf(flags, 'non-resource-url');
    const others = ['verb', 'resource', 'resource-name', 'non-resource-url'];
    if (labels !== undefined) {
      if (others.some((flag) => flags.given(flag)))
        throw new UsageError(
          'aggregation rule must be specified without nonResourceURLs, verbs, resources or resourceNames',
        );
      const clusterRoleSelectors = [{ matchLabels: labelsOf(labels) }];
      return role('ClusterRole', name, { rules: null, aggregationRule: { clusterRoleSelectors } });
    }
    const verbs = verbsOf(given);
    const resources = resourcesOf(given);
    if (resources.length === 0 && paths.length === 0)
      throw new UsageError('one of resource or nonResourceURL must be specified');
    if (resources.length > 0) checkVerbs(given, verbs, resources);
    if (paths.length > 0) checkPaths(verbs, paths);
    const rules = [
      ...resourceRules(given, verbs, resources),
      ...(paths.length > 0 ? [{ verbs, nonResourceURLs: paths }] : []),
    ];
    return role('ClusterRole', name, { rules });
  },
};

function verbsOf({ flags }: Given): string[] {
  const verbs = wordsOf(flags, 'verb');
  if (verbs.length === 0) throw new UsageError('at least one verb must be specified');
  return verbs.includes('*') ? ['*'] : verbs;
}

interface NamedResource {
  readonly resource: string;
  readonly group: string;
  readonly subresource: string | undefined;
}

/** Returns the resources; `*` alone stands for all resources, and words after it are ignored. */
function resourcesOf({ flags, resources: all }: Given): NamedResource[] {
  const words = flags.texts('resource').flatMap((text) => text.split(','));
  const everything = words.indexOf('*');
  const named: NamedResource[] = [];
  for (const word of everything < 0 ? words : words.slice(0, everything + 1)) {
    const [name = '', subresource] = split(word, '/');
    const [resource, group = ''] = split(name, '.');
    if (resource === '') throw new UsageError('resource must be specified if apiGroup/subresource specified');
    if (resource === '*' || unserved.has(resource)) named.push({ resource, group, subresource });
    else {
      const found = findResource(all, name);
      named.push({ resource: found.plural, group: found.group, subresource });
    }
  }
  return named;
}

/** Resources that may be impersonated and that no server serves as objects. */
const unserved = new Set(['users', 'groups', 'userextras']);

function split(text: string, by: string): [string, string | undefined] {
  const at = text.indexOf(by);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function resourceRules(
  { flags }: Given,
  verbs: readonly string[],
  resources: readonly NamedResource[],
): JsonObject[] {
  const resourceNames = [...new Set(flags.texts('resource-name'))];
  const groups = [...new Set(resources.map(({ group }) => group))].sort();
  return groups.map((group) => ({
    verbs: [...verbs],
    apiGroups: [group],
    resources: [
      ...new Set(
        resources
          .filter((one) => one.group === group)
          .map(({ resource, subresource }) => (subresource ? `${resource}/${subresource}` : resource)),
      ),
    ],
    ...(resourceNames.length > 0 && { resourceNames }),
  }));
}

const usualVerbs = new Set(
  '* get delete list create update patch watch proxy deletecollection use bind escalate impersonate'.split(
    ' ',
  ),
);

/** Verbs that apply to these resources only. */
const specialVerbs: Readonly<Record<string, readonly string[]>> = {
  use: [],
  bind: [`roles.${rbacGroup}`, `clusterroles.${rbacGroup}`],
  escalate: [`roles.${rbacGroup}`, `clusterroles.${rbacGroup}`],
  impersonate: ['users.', 'serviceaccounts.', 'groups.', 'userextras.authentication.k8s.io'],
};

function checkVerbs({ warn }: Given, verbs: readonly string[], resources: readonly NamedResource[]): void {
  for (const verb of verbs) if (!usualVerbs.has(verb)) warn(`'${verb}' is not a standard resource verb`);
  const special = verbs.filter((verb) => Object.hasOwn(specialVerbs, verb));
  for (const one of resources) {
    if (one.resource === '*') return;
    checkResource(one, special);
  }
}

/** Throws UsageError for a resource to which one of the special verbs does not apply. */
function checkResource({ resource, group }: NamedResource, special: readonly string[]): void {
  const wrong = special.find((verb) => !specialVerbs[verb]?.includes(`${resource}.${group}`));
  if (wrong !== undefined)
    throw new UsageError(`can not perform '${wrong}' on '${resource}' in group '${group}'`);
  if (unserved.has(resource) && special.length === 0)
    throw new UsageError(`the server doesn't have a resource type "${resource}"`);
}

const pathVerbs = new Set(['*', 'get', 'post', 'put', 'delete', 'patch', 'head', 'options']);

function checkPaths(verbs: readonly string[], paths: readonly string[]): void {
  for (const verb of verbs)
    if (!pathVerbs.has(verb)) throw new UsageError(`invalid verb: '${verb}' for nonResourceURL`);
  for (const path of paths) {
    if (path === '*') continue;
    if (!path.startsWith('/')) throw new UsageError('nonResourceURL should start with /');
    if (path.slice(0, -1).includes('*'))
      throw new UsageError("nonResourceURL only supports wildcard matches when '*' is at the end");
  }
}

function labelsOf(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => split(pair, '='));
  const wrong = pairs.find(([, value]) => value === undefined);
  if (wrong) throw new UsageError(`malformed pair, expect string=string: ${wrong[0]}`);
  return Object.fromEntries(pairs.map(([key, value = '']) => [key.trim(), value.trim()]));
}

export const roleGenerators = { role: roleGenerator, clusterrole: clusterRoleGenerator };
