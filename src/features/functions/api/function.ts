/** Function: a program that is called by HTTP and scaled on demand, down to zero instances. */
import * as v from 'valibot';
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { conditionSchema, int32, int64, objectMetaSchema, struct } from '../../../apimachinery/schema.ts';
import { instanceFields, programFields } from './function-fields.ts';
import { setFunctionDefaults, validateFunction } from './function-validation.ts';

/** Metrics for scaling: calls in progress, or calls that arrived in the window. */
export const scaleMetrics = ['Concurrency', 'Requests'] as const;

const seconds = (about: string) => v.optional(v.pipe(int32(), v.description(about)));

const specSchema = v.pipe(
  struct({
    ...programFields,
    ...instanceFields,
    minScale: v.optional(v.pipe(int32(), v.description('The least number of instances. Defaults to 0.')), 0),
    maxScale: v.optional(
      v.pipe(int32(), v.description('The greatest number of instances, at most 1000. Defaults to 10.')),
      10,
    ),
    metric: v.optional(
      v.pipe(
        v.picklist(scaleMetrics),
        v.description(
          'What the number of instances follows: Concurrency, the calls under way, or Requests, the calls that came in ' +
            'windowSeconds. Defaults to Concurrency.',
        ),
      ),
      'Concurrency',
    ),
    target: v.optional(
      v.pipe(
        int32(),
        v.description(
          'How much of the metric an instance should have. Defaults to 70 % of concurrency, or 5 calls a window.',
        ),
      ),
    ),
    windowSeconds: seconds(
      'Over how many seconds the metric is looked at before instances are taken away, from 1 to 3600. Defaults to 30.',
    ),
    idleSeconds: seconds(
      'After how many seconds without a call the last instance goes, from 1 to 86400. Defaults to 60.',
    ),
    public: v.optional(
      v.pipe(
        v.boolean(),
        v.description(
          'Whether everybody may call it. Otherwise callers need the verb create on functions/invoke. Defaults to false.',
        ),
      ),
      false,
    ),
  }),
  v.description('The program, how an instance of it runs, and how many there are.'),
);

const statusSchema = v.pipe(
  struct({
    observedGeneration: v.optional(
      v.pipe(int64(), v.description('The metadata.generation that this status was computed from.')),
    ),
    latestVersion: v.optional(
      v.pipe(v.string(), v.description('Name of the FunctionVersion that was made of the spec.')),
    ),
    activeVersion: v.optional(
      v.pipe(
        v.string(),
        v.description('Name of the FunctionVersion that is called: the newest one that was ready.'),
      ),
    ),
    demand: v.optional(
      v.pipe(
        v.record(v.string(), int32()),
        v.description('How many instances each gateway asks for, by the name of its master.'),
      ),
    ),
    replicas: v.optional(v.pipe(int32(), v.description('How many instances there are.'))),
    readyReplicas: v.optional(v.pipe(int32(), v.description('How many of them can be called.'))),
    conditions: v.optional(
      v.pipe(
        v.array(conditionSchema),
        v.description(
          'The state of the function. The condition of type Ready says whether what the spec says is what is called, and ' +
            'if not, why.',
        ),
      ),
    ),
  }),
  v.description('The status of the function, written by the cluster.'),
);

const functionSchema = v.pipe(
  struct({
    apiVersion: v.pipe(
      v.literal('minik8s.io/v1'),
      v.description('Group and version of this kind: minik8s.io/v1.'),
    ),
    kind: v.pipe(v.literal('Function'), v.description('The kind of the object: Function.')),
    metadata: objectMetaSchema,
    spec: specSchema,
    status: v.optional(statusSchema),
  }),
  v.description(
    'Function is a program that is called by HTTP. It has as many instances as its calls need, and none when there are none.',
  ),
);

export type Fn = v.InferOutput<typeof functionSchema>;

export const functionResource: ResourceDefinition<Fn> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'Function',
  plural: 'functions',
  singular: 'function',
  shortNames: ['fn'],
  categories: [],
  namespaced: true,
  typeName: 'Function',
  schema: functionSchema,
  strategy: {
    setDefaults: setFunctionDefaults,
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate: validateFunction,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Runtime',
      type: 'string',
      description: 'The language of its files, or its image.',
      cell: ({ spec }) => spec.runtime ?? spec.image ?? '',
    },
    {
      name: 'Ready',
      type: 'string',
      description: 'Whether what the spec says is what is called.',
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    },
    {
      name: 'Instances',
      type: 'string',
      description: 'How many instances can be called, and how many there are.',
      cell: ({ status }) => `${status?.readyReplicas ?? 0}/${status?.replicas ?? 0}`,
    },
    {
      name: 'Version',
      type: 'string',
      description: 'The FunctionVersion that is called.',
      cell: ({ status }) => status?.activeVersion ?? '<none>',
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
