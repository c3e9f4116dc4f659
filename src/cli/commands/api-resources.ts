/** `ctl api-resources` and `ctl api-versions`: list the resources and versions that the server serves. */
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { wordsOf } from '../create/generator.ts';
import type { FlagTable } from '../flags/flags.ts';
import { type ApiResource, type ApiResources, preferred } from '../objects/discovery.ts';
import { madeFormat } from '../printers/object-format.ts';
import { TableWriter } from '../printers/table-writer.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  output: {
    type: 'string',
    short: 'o',
    hint: 'wide|name|json|yaml',
    about: 'wide: add verbs and categories; name: names only',
    usual: 'a table',
  },
  'api-group': { type: 'string', hint: 'GROUP', about: 'only kinds of this API group' },
  namespaced: {
    type: 'boolean',
    about: 'only namespaced kinds; --namespaced=false: only cluster-scoped kinds',
  },
  verbs: { type: 'string', hint: 'VERB,…', about: 'only resources that support all of these verbs' },
  categories: { type: 'string', hint: 'CATEGORY,…', about: 'only resources of all of these categories' },
  'sort-by': { type: 'string', hint: 'name|kind', about: 'order of the list', usual: 'by API group' },
  cached: { type: 'boolean', about: 'use the cached resources of an earlier command, if there are any' },
  'no-headers': { type: 'boolean', about: 'do not print the header line' },
  'show-managed-fields': {
    type: 'boolean',
    about: 'no effect, for scripts of kubectl: types have no managed fields',
  },
} as const satisfies FlagTable;

export const apiResources: Verb = {
  about: 'list the types of objects that the server has',
  group: 'Other Commands',
  flags: flagTable,
  examples: [
    'ctl api-resources # list all types',
    'ctl api-resources --namespaced=false -o name # list the names of those without a namespace',
    'ctl api-resources --api-group=apps # list the types of one group',
    'ctl api-resources --verbs=list,watch -o name # list the names of those that can be watched',
  ],
  async run({ flags, io, palette, cluster }) {
    const group = flags.text('api-group');
    const order = orderOf(flags.oneOf('sort-by', ['', 'name', 'kind'] as const));
    const [verbs, categories] = [wordsOf(flags, 'verbs'), wordsOf(flags, 'categories')];
    const shown = preferred(await cluster().resources({ fresh: !flags.on('cached') }))
      .filter((resource) => group === undefined || resource.group === group)
      .filter(({ namespaced }) => !flags.given('namespaced') || namespaced === flags.on('namespaced'))
      .filter((resource) => resource.verbs.length > 0 && hasAll(resource.verbs, verbs))
      .filter((resource) => hasAll(resource.categories, categories))
      .sort((a, b) => compare(order(a), order(b)) || compare(a.plural, b.plural));
    const output = flags.oneOf('output', ['wide', 'name', 'json', 'yaml'] as const);
    if (output === 'json' || output === 'yaml') {
      io.out(madeFormat(flags)?.(listOf(shown)) ?? '');
      return;
    }
    if (output === 'name') {
      io.out(shown.map(({ plural, group }) => `${plural}${group && `.${group}`}\n`).join(''));
      return;
    }
    const wide = output === 'wide';
    const header = ['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND', 'VERBS', 'CATEGORIES'];
    const rows = shown.map((resource) => rowOf(resource).slice(0, wide ? 7 : 5));
    const headers = flags.on('no-headers') ? [] : header.slice(0, wide ? 7 : 5);
    io.out(new TableWriter(palette).format(rows, headers));
  },
};

/** Returns the list as kubectl writes it, with fields in the order of Go's types. */
const listOf = (resources: ApiResources) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: '',
  resources: resources.map(
    ({ plural, singular, namespaced, group, version, kind, verbs, shortNames, categories }) => ({
      name: plural,
      singularName: singular,
      namespaced,
      ...(group !== '' && { group }),
      version,
      kind,
      verbs,
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
    }),
  ),
});

/** Returns the text by which a resource is ordered. */
function orderOf(field: '' | 'name' | 'kind' | undefined): (resource: ApiResource) => string {
  if (field === 'name') return ({ plural }) => plural;
  if (field === 'kind') return ({ kind }) => kind;
  return ({ group }) => group;
}

const hasAll = (all: readonly string[], wanted: readonly string[]) =>
  wanted.every((one) => all.includes(one));

const rowOf = (resource: ApiResource): string[] => [
  resource.plural,
  resource.shortNames.join(','),
  apiVersionOf(resource),
  String(resource.namespaced),
  resource.kind,
  resource.verbs.join(','),
  resource.categories.join(','),
];

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

export const apiVersions: Verb = {
  about: 'list the API groups and versions that the server has',
  group: 'Other Commands',
  examples: ['ctl api-versions # list what apiVersion can be'],
  async run({ io, cluster }) {
    const versions = new Set((await cluster().resources({ fresh: true })).map(apiVersionOf));
    io.out(
      [...versions]
        .sort()
        .map((version) => `${version}\n`)
        .join(''),
    );
  },
};
