/** `ctl explain`: describes a kind and its fields, from the server's documentation. */
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { UsageError } from '../../base/usage-error.ts';
import { openApiPath, schemaOfKind } from '../apply/merge-schema.ts';
import type { FlagTable } from '../flags/flags.ts';
import { findResource } from '../objects/discovery.ts';
import { recordAt } from '../objects/objects.ts';
import type { Verb } from '../verb.ts';
import { explain as explained } from './explain-plan.ts';

const flagTable = {
  recursive: { type: 'boolean', about: 'list the fields of all levels, one per line' },
  'api-version': { type: 'string', hint: 'GROUP/VERSION', about: 'describe the fields of this version' },
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
  ],
  async run({ io, flags, ...context }) {
    const [word, ...more] = flags.words;
    if (word === undefined || more.length > 0)
      throw new UsageError(
        'ctl explain: give one resource type, with or without fields: TYPE or TYPE.FIELD.FIELD',
      );
    const [type = '', ...path] = word.split('.').filter((part) => part !== '');
    const cluster = context.cluster();
    const all = await cluster.resources();
    const apiVersion = flags.text('api-version');
    const resource = findResource(
      apiVersion === undefined ? all : all.filter((each) => apiVersionOf(each) === apiVersion),
      type,
    );
    const document = await cluster.get(openApiPath(resource));
    const schema = schemaOfKind(document, resource);
    if (!schema)
      throw new Error(`the server does not describe ${resource.kind} of ${apiVersionOf(resource)}`);
    const schemas = recordAt(document, 'components', 'schemas');
    io.out(explained({ schema, schemas, kind: resource, path, recursive: flags.on('recursive') }));
  },
};
