import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import {
  conditionSchema,
  int32,
  int64,
  labelSelectorSchema,
  objectMetaSchema,
  struct,
} from '../../../apimachinery/schema.ts';
import { podTemplateSchema } from '../../core/v1/pod-spec.ts';

const replicaSetSchema = struct({
  apiVersion: v.literal('apps/v1'),
  kind: v.literal('ReplicaSet'),
  metadata: objectMetaSchema,
  spec: struct({
    replicas: v.optional(int32(), 1),
    minReadySeconds: v.optional(int32()),
    selector: labelSelectorSchema,
    template: podTemplateSchema,
  }),
  status: v.optional(
    struct({
      replicas: v.optional(int32(), 0),
      fullyLabeledReplicas: v.optional(int32()),
      readyReplicas: v.optional(int32()),
      availableReplicas: v.optional(int32()),
      observedGeneration: v.optional(int64()),
      conditions: v.optional(v.array(conditionSchema)),
    }),
  ),
});

export type ReplicaSet = v.InferOutput<typeof replicaSetSchema>;

export const replicaSetResource: ResourceDefinition<ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  singular: 'replicaset',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  fieldsOf: 'V1ReplicaSet',
  schema: replicaSetSchema,
  strategy: { countsGenerations: true },
  hasStatus: true,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'status',
};
