/** `ctl explain`: describes a kind and its fields, from the server's documentation. */
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { UsageError } from '../../base/usage-error.ts';
import { openApiPath, schemaOfKind } from '../apply/merge-schema.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import { type ApiResource, type ApiResources, findResource } from '../objects/discovery.ts';
import { recordAt } from '../objects/objects.ts';
import type { Verb } from '../verb.ts';
import { explain as explained } from './explain-plan.ts';
import { explainV2 } from './explain-v2-plan.ts';

const flagTable = {
  recursive: { type: 'boolean', about: 'list the fields of all levels, one per line' },
  'max-depth': {
    type: 'string',
    hint: 'LEVELS',
    about: 'with --recursive, number of levels to list; 0: all of them',
    usual: '0',
  },
  'api-version': { type: 'string', hint: 'GROUP/VERSION', about: 'describe the fields of this version' },
  output: {
    type: 'string',
    short: 'o',
    hint: 'FORMAT',
    about: 'plaintext, or plaintext-openapiv2: as older versions of kubectl print it',
    usual: 'plaintext',
    values: ['plaintext', 'plaintext-openapiv2'],
  },
} as const satisfies FlagTable;

export const explain: Verb = {
  about: 'explain a type or a field: what it means, its type and the fields in it',
  group: 'Basic Commands (Intermediate)',
  words: 'TYPE[.FIELD[.FIELD...]]',
  flags: flagTable,
  examples: [
    'ctl explain pods # list the fields of a pod',
    'ctl explain pods.spec.containers # list the fields of a container',
    'ctl explain deployments.spec --recursive # list the fields of all levels',
    'ctl explain pods --recursive --max-depth=2 # list those of two levels',
    'ctl explain events.events.k8s.io # a type of one API group',
  ],
  async run({ io, flags, ...context }) {
    const [word, ...more] = flags.words;
    if (word === undefined || more.length > 0)
      throw new UsageError(
        'ctl explain: give one resource type, with or without fields: TYPE or TYPE.FIELD.FIELD',
      );
    const output = flags.text('output') ?? 'plaintext';
    if (output !== 'plaintext' && output !== 'plaintext-openapiv2')
      throw new UsageError(`unrecognized format: ${output}: plaintext or plaintext-openapiv2`);
    const levels = levelsOf(flags);
    const cluster = context.cluster();
    const named = { word, apiVersion: flags.text('api-version'), levels };
    io.out(await (output === 'plaintext' ? fromVersion3 : fromVersion2)(cluster, named));
  },
};

interface Named {
  /** TYPE[.FIELD...]. */
  readonly word: string;
  readonly apiVersion: string | undefined;
  /** Number of levels of fields to list, one line each; undefined to describe those of the first. */
  readonly levels: number | undefined;
}

function levelsOf(flags: Flags): number | undefined {
  const most = flags.whole('max-depth') ?? 0;
  if (most < 0) throw new UsageError('--max-depth must be non-negative');
  if (most > 0 && !flags.on('recursive')) throw new UsageError('--max-depth requires --recursive');
  return flags.on('recursive') ? most || Number.POSITIVE_INFINITY : undefined;
}

async function fromVersion3(cluster: Cluster, { word, apiVersion, levels }: Named): Promise<string> {
  const all = await cluster.resources();
  const served = all.filter((each) => apiVersion === undefined || apiVersionOf(each) === apiVersion);
  const { resource, path } = split(served, word);
  const document = await cluster.get(openApiPath(resource));
  const schema = schemaOfKind(document, resource);
  if (!schema) throw new Error(`the server does not describe ${resource.kind} of ${apiVersionOf(resource)}`);
  const schemas = recordAt(document, 'components', 'schemas');
  return explained({ schema, schemas, kind: resource, path, levels });
}

async function fromVersion2(cluster: Cluster, { word, apiVersion, levels }: Named): Promise<string> {
  const { resource, path } = split(await cluster.resources(), word);
  const { kind, group, version } = resource;
  const [last = '', first = ''] = apiVersion?.split('/').reverse() ?? [version, group];
  const document = await cluster.get('/openapi/v2');
  const definitions = recordAt(document, 'definitions');
  return explainV2({ definitions, kind: { group: first, version: last, kind }, path, levels });
}

/** Splits a word such as `pods.spec` or `deployments.apps.spec` into the resource and the names of fields. */
function split(
  all: ApiResources,
  word: string,
): { readonly resource: ApiResource; readonly path: readonly string[] } {
  const [type = '', ...path] = word.split('.').filter((part) => part !== '');
  const isNamed = ({ plural, group }: ApiResource) =>
    group !== '' && plural === type && `${word}.`.startsWith(`${plural}.${group}.`);
  const named = all.find(isNamed);
  if (named) return { resource: named, path: path.slice(named.group.split('.').length) };
  return { resource: findResource(all, type), path };
}
