import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { int32, objectMetaSchema, struct, time } from '../../../apimachinery/schema.ts';

const leaseSchema = struct({
  apiVersion: v.literal('coordination.k8s.io/v1'),
  kind: v.literal('Lease'),
  metadata: objectMetaSchema,
  spec: v.optional(
    struct({
      holderIdentity: v.optional(v.string()),
      leaseDurationSeconds: v.optional(int32()),
      acquireTime: v.optional(time()),
      renewTime: v.optional(time()),
      leaseTransitions: v.optional(int32()),
    }),
    {},
  ),
});

export type Lease = v.InferOutput<typeof leaseSchema>;

export const leaseResource: ResourceDefinition<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  singular: 'lease',
  shortNames: [],
  categories: [],
  namespaced: true,
  fieldsOf: 'V1Lease',
  schema: leaseSchema,
  strategy: { countsGenerations: false },
  hasStatus: false,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'status',
};
