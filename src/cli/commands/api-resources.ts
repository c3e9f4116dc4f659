/** `ctl api-resources` and `ctl api-versions`: list the resources and versions that the server serves. */
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import type { FlagTable } from '../flags/flags.ts';
import { type ApiResource, preferred } from '../objects/discovery.ts';
import { TableWriter } from '../printers/table-writer.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  output: {
    type: 'string',
    short: 'o',
    hint: 'wide|name',
    about: 'wide: add verbs and categories; name: names only',
  },
  'api-group': { type: 'string', hint: 'GROUP', about: 'only kinds of this API group' },
  namespaced: {
    type: 'boolean',
    about: 'only namespaced kinds; --namespaced=false: only cluster-scoped kinds',
  },
  cached: { type: 'boolean', about: 'use the resources that an earlier command has kept, if there are any' },
  'no-headers': { type: 'boolean', about: 'do not print the header line' },
} as const satisfies FlagTable;

export const apiResources: Verb = {
  about: 'list the API resources of the server',
  flags: flagTable,
  async run({ flags, io, palette, cluster }) {
    const group = flags.text('api-group');
    const shown = preferred(await cluster().resources({ fresh: !flags.on('cached') }))
      .filter((resource) => group === undefined || resource.group === group)
      .filter(({ namespaced }) => !flags.given('namespaced') || namespaced === flags.on('namespaced'))
      .sort((a, b) => compare(a.group, b.group) || compare(a.plural, b.plural));
    const output = flags.oneOf('output', ['wide', 'name'] as const);
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
  about: 'list the API groups and versions of the server',
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
