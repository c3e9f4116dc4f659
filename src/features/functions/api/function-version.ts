/**
 * FunctionVersion: the settings of instances from one spec of a Function, immutable. Nodes build its image
 * from it. All nodes use the same libraries, since the first node records their versions.
 */
import * as v from 'valibot';
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { conditionSchema, objectMetaSchema, struct } from '../../../apimachinery/schema.ts';
import { instanceFields, programFields } from './function-fields.ts';
import { lockFault } from './function-lock.ts';

const specSchema = v.pipe(
  struct({
    function: v.pipe(v.string(), v.description('Name of the Function.')),
    ...programFields,
    ...instanceFields,
    image: v.pipe(
      v.string(),
      v.description(
        'The image of an instance. minik8s.function/NAMESPACE/NAME:HASH is built from the files by the nodes that need it.',
      ),
    ),
    baseImage: v.optional(
      v.pipe(v.string(), v.description('The image of the runtime, that the files are added to.')),
    ),
  }),
  v.description('What an instance is made of. It cannot be changed.'),
);

const statusSchema = v.pipe(
  struct({
    lock: v.optional(
      v.pipe(
        v.string(),
        v.description(
          'The libraries that the first build installed, with their hashes: what every other build installs. Of python ' +
            'lines of a requirements.txt, of nodejs a package-lock.json.',
        ),
      ),
    ),
    log: v.optional(v.pipe(v.string(), v.description('The last lines of the log of the newest build.'))),
    nodeName: v.optional(v.pipe(v.string(), v.description('The node of the newest build.'))),
    conditions: v.optional(
      v.pipe(
        v.array(conditionSchema),
        v.description('The condition of type Built says whether the newest build succeeded.'),
      ),
    ),
  }),
  v.description('What came of building the image, written by the nodes.'),
);

const functionVersionSchema = v.pipe(
  struct({
    apiVersion: v.pipe(
      v.literal('minik8s.io/v1'),
      v.description('Group and version of this kind: minik8s.io/v1.'),
    ),
    kind: v.pipe(v.literal('FunctionVersion'), v.description('The kind of the object: FunctionVersion.')),
    metadata: objectMetaSchema,
    spec: specSchema,
    status: v.optional(statusSchema),
  }),
  v.description(
    'FunctionVersion is what one spec of a Function says of its instances. It cannot be changed.',
  ),
);

export type FunctionVersion = v.InferOutput<typeof functionVersionSchema>;

export const functionVersionResource: ResourceDefinition<FunctionVersion> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'FunctionVersion',
  plural: 'functionversions',
  singular: 'functionversion',
  shortNames: ['fnv'],
  categories: [],
  namespaced: true,
  typeName: 'FunctionVersion',
  schema: functionVersionSchema,
  strategy: {
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validateUpdate: ({ spec }, old) =>
      deepEqual(spec, old.spec) ? [] : [forbiddenCause('spec', 'a FunctionVersion cannot be changed')],
    validateStatus({ spec, status }, old) {
      const lock = status?.lock;
      if (lock === undefined || lock === old.status?.lock) return [];
      const fault =
        spec.runtime === undefined ? 'nothing is installed for it' : lockFault(spec.runtime, lock);
      return fault === undefined ? [] : [invalidCause('status.lock', lock.slice(0, 200), fault)];
    },
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Function',
      type: 'string',
      description: 'The Function it is of.',
      cell: ({ spec }) => spec.function,
    },
    {
      name: 'Built',
      type: 'string',
      description: 'Whether its newest build succeeded.',
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Built')?.status ?? 'Unknown',
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
