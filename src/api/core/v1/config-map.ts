import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { objectMetaSchema, stringMap, struct } from '../../../apimachinery/schema.ts';

const configMapSchema = struct({
  apiVersion: v.literal('v1'),
  kind: v.literal('ConfigMap'),
  metadata: objectMetaSchema,
  data: v.optional(stringMap()),
  binaryData: v.optional(stringMap()),
  immutable: v.optional(v.boolean()),
});

export type ConfigMap = v.InferOutput<typeof configMapSchema>;

export const configMapResource: ResourceDefinition<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  categories: [],
  namespaced: true,
  fieldsOf: 'V1ConfigMap',
  schema: configMapSchema,
  strategy: { countsGenerations: false },
  hasStatus: false,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'status',
};
