import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { int32, objectMetaSchema, struct } from '../../../apimachinery/schema.ts';

const objectReference = struct({
  kind: v.optional(v.string()),
  namespace: v.optional(v.string()),
  name: v.optional(v.string()),
  uid: v.optional(v.string()),
});

const endpoint = struct({
  addresses: v.array(v.string()),
  conditions: v.optional(
    struct({
      ready: v.optional(v.boolean()),
      serving: v.optional(v.boolean()),
      terminating: v.optional(v.boolean()),
    }),
    {},
  ),
  hostname: v.optional(v.string()),
  nodeName: v.optional(v.string()),
  targetRef: v.optional(objectReference),
});

const endpointPort = struct({
  name: v.optional(v.string(), ''),
  protocol: v.optional(v.picklist(['TCP', 'UDP', 'SCTP']), 'TCP'),
  port: v.optional(int32()),
});

const endpointSliceSchema = struct({
  apiVersion: v.literal('discovery.k8s.io/v1'),
  kind: v.literal('EndpointSlice'),
  metadata: objectMetaSchema,
  addressType: v.picklist(['IPv4', 'IPv6', 'FQDN']),
  endpoints: v.optional(v.array(endpoint), []),
  ports: v.optional(v.array(endpointPort), []),
});

export type EndpointSlice = v.InferOutput<typeof endpointSliceSchema>;
export type Endpoint = v.InferOutput<typeof endpoint>;
export type EndpointPort = v.InferOutput<typeof endpointPort>;

export const endpointSliceResource: ResourceDefinition<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  singular: 'endpointslice',
  shortNames: [],
  categories: [],
  namespaced: true,
  fieldsOf: 'V1EndpointSlice',
  schema: endpointSliceSchema,
  strategy: { countsGenerations: true },
  hasStatus: false,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'status',
};
