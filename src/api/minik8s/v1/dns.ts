/** Dns: a host name whose paths lead to Services of its namespace, on every node. */
import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { conditionSchema, int32, int64, objectMetaSchema, struct } from '../../../apimachinery/schema.ts';
import { ageColumn, listWithMore, nameColumn } from '../../columns.ts';
import { normalizePaths, validateDns } from './dns-validation.ts';

const dnsPath = struct({
  /** A prefix of whole path elements: `/api` is `/api` and all below `/api/`. */
  path: v.optional(v.string(), '/'),
  serviceName: v.string(),
  servicePort: int32(),
});

const dnsSchema = struct({
  apiVersion: v.literal('minik8s.io/v1'),
  kind: v.literal('Dns'),
  metadata: objectMetaSchema,
  spec: struct({ host: v.string(), paths: v.array(dnsPath) }),
  status: v.optional(
    struct({ observedGeneration: v.optional(int64()), conditions: v.optional(v.array(conditionSchema)) }),
  ),
});

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
  fieldsOf: 'Dns',
  schema: dnsSchema,
  strategy: { setDefaults: normalizePaths, validate: validateDns, countsGenerations: true },
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
      description: 'Whether every path leads to a Service.',
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    },
    ageColumn,
  ],
  selectableFields: { 'spec.host': ({ spec }) => spec.host },
  deleteAnswers: 'status',
};
