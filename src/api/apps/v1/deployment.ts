import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import {
  conditionSchema,
  int32,
  int64,
  intOrString,
  labelSelectorSchema,
  objectMetaSchema,
  struct,
} from '../../../apimachinery/schema.ts';
import { podTemplateSchema } from '../../core/v1/pod-spec.ts';

const deploymentSchema = struct({
  apiVersion: v.literal('apps/v1'),
  kind: v.literal('Deployment'),
  metadata: objectMetaSchema,
  spec: struct({
    replicas: v.optional(int32(), 1),
    minReadySeconds: v.optional(int32()),
    selector: labelSelectorSchema,
    template: podTemplateSchema,
    strategy: v.optional(
      struct({
        type: v.optional(v.picklist(['RollingUpdate', 'Recreate']), 'RollingUpdate'),
        rollingUpdate: v.optional(
          struct({ maxSurge: v.optional(intOrString()), maxUnavailable: v.optional(intOrString()) }),
        ),
      }),
      {},
    ),
    revisionHistoryLimit: v.optional(int32(), 10),
    progressDeadlineSeconds: v.optional(int32(), 600),
    paused: v.optional(v.boolean()),
  }),
  status: v.optional(
    struct({
      observedGeneration: v.optional(int64()),
      replicas: v.optional(int32()),
      updatedReplicas: v.optional(int32()),
      readyReplicas: v.optional(int32()),
      availableReplicas: v.optional(int32()),
      unavailableReplicas: v.optional(int32()),
      collisionCount: v.optional(int32()),
      conditions: v.optional(v.array(conditionSchema)),
    }),
  ),
});

export type Deployment = v.InferOutput<typeof deploymentSchema>;

export const deploymentResource: ResourceDefinition<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  singular: 'deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  fieldsOf: 'V1Deployment',
  schema: deploymentSchema,
  strategy: { countsGenerations: true },
  hasStatus: true,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'status',
};
