import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { conditionSchema, objectMetaSchema, struct } from '../../../apimachinery/schema.ts';

const namespaceSchema = struct({
  apiVersion: v.literal('v1'),
  kind: v.literal('Namespace'),
  metadata: objectMetaSchema,
  spec: v.optional(struct({ finalizers: v.optional(v.array(v.string())) })),
  status: v.optional(
    struct({
      phase: v.optional(v.picklist(['Active', 'Terminating'])),
      conditions: v.optional(v.array(conditionSchema)),
    }),
  ),
});

export type Namespace = v.InferOutput<typeof namespaceSchema>;

export const namespaceResource: ResourceDefinition<Namespace> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  categories: [],
  namespaced: false,
  fieldsOf: 'V1Namespace',
  schema: namespaceSchema,
  strategy: { countsGenerations: false },
  hasStatus: true,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'status',
};
