/** Dns: a host name whose paths are routed to Services of its namespace, on every node. */
import * as v from 'valibot';
import { ageColumn, listWithMore, nameColumn } from '../../../api/columns.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { conditionSchema, int32, int64, objectMetaSchema, struct } from '../../../apimachinery/schema.ts';
import { normalizePaths, validateDns } from './dns-validation.ts';

/** Description of a field for `kubectl explain` and `ctl explain`. */
const text = v.description<string, string>;

const dnsPath = struct({
  path: v.optional(
    v.pipe(
      v.string(),
      text(
        'The path prefix that is routed to the Service, in whole elements: /api stands for /api and for ' +
          'everything below /api/. Defaults to /, which stands for all paths. The longest path that fits a request ' +
          'is taken.',
      ),
    ),
    '/',
  ),
  serviceName: v.pipe(
    v.string(),
    text('Name of the Service, in the namespace of the Dns object, that gets the requests.'),
  ),
  servicePort: v.pipe(int32(), v.description('Port of the Service, one of its spec.ports, from 1 to 65535.')),
});

const specSchema = v.pipe(
  struct({
    host: v.pipe(
      v.string(),
      text(
        'The host name that is served, such as shop.example.com. Pods resolve it to their own node, and every node ' +
          'answers for it on port 80. A host belongs to one namespace of the cluster.',
      ),
    ),
    paths: v.pipe(
      v.array(dnsPath),
      v.description(
        'The paths of the host and the Services they lead to. A path of a host belongs to one Dns object of the ' +
          'cluster.',
      ),
    ),
  }),
  v.description('The host name and where its paths lead.'),
);

const statusSchema = v.pipe(
  struct({
    observedGeneration: v.optional(
      v.pipe(int64(), v.description('The metadata.generation that this status was computed from.')),
    ),
    conditions: v.optional(
      v.pipe(
        v.array(conditionSchema),
        v.description(
          'The state of the object. The condition of type Ready says whether its paths are served.',
        ),
      ),
    ),
  }),
  v.description('The status of the object, written by the cluster.'),
);

const dnsSchema = v.pipe(
  struct({
    apiVersion: v.pipe(
      v.literal('minik8s.io/v1'),
      v.description('Group and version of this kind: minik8s.io/v1.'),
    ),
    kind: v.pipe(v.literal('Dns'), v.description('The kind of the object: Dns.')),
    metadata: objectMetaSchema,
    spec: specSchema,
    status: v.optional(statusSchema),
  }),
  v.description('Dns gives a host name to HTTP paths that lead to Services of its namespace, on every node.'),
);

export type Dns = v.InferOutput<typeof dnsSchema>;
export type DnsPath = v.InferOutput<typeof dnsPath>;

const shownInColumn = 3;

export const dnsResource: ResourceDefinition<Dns> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'Dns',
  plural: 'dnses',
  singular: 'dns',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'Dns',
  schema: dnsSchema,
  strategy: {
    setDefaults: normalizePaths,
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate: validateDns,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Host',
      type: 'string',
      description: 'The name that is served.',
      cell: ({ spec }) => spec.host,
    },
    {
      name: 'Paths',
      type: 'string',
      description: 'Paths and the Services they lead to.',
      cell: ({ spec }) =>
        listWithMore(
          spec.paths.map(({ path, serviceName, servicePort }) => `${path}=${serviceName}:${servicePort}`),
          shownInColumn,
          '<none>',
        ),
    },
    {
      name: 'Ready',
      type: 'string',
      description: 'Whether every path leads to a Service and every node serves the host.',
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    },
    ageColumn,
  ],
  selectableFields: { 'spec.host': ({ spec }) => spec.host },
  deleteAnswers: 'status',
};
