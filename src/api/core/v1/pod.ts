import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { objectMetaSchema, struct } from '../../../apimachinery/schema.ts';
import { podSpecSchema } from './pod-spec.ts';
import { podStatusSchema } from './pod-status.ts';

const podSchema = struct({
  apiVersion: v.literal('v1'),
  kind: v.literal('Pod'),
  metadata: objectMetaSchema,
  spec: podSpecSchema,
  status: v.optional(podStatusSchema),
});

export type Pod = v.InferOutput<typeof podSchema>;

export const podResource: ResourceDefinition<Pod> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  fieldsOf: 'V1Pod',
  schema: podSchema,
  strategy: { countsGenerations: true },
  hasStatus: true,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'object',
};
