import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { objectMetaSchema, stringMap, struct } from '../../../apimachinery/schema.ts';

const secretSchema = struct({
  apiVersion: v.literal('v1'),
  kind: v.literal('Secret'),
  metadata: objectMetaSchema,
  /** Base64. */
  data: v.optional(stringMap()),
  /** Write-only: merged into `data` and never stored. */
  stringData: v.optional(stringMap()),
  type: v.optional(v.string(), 'Opaque'),
  immutable: v.optional(v.boolean()),
});

export type Secret = v.InferOutput<typeof secretSchema>;

export const secretResource: ResourceDefinition<Secret> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  singular: 'secret',
  shortNames: [],
  categories: [],
  namespaced: true,
  fieldsOf: 'V1Secret',
  schema: secretSchema,
  strategy: { countsGenerations: false },
  hasStatus: false,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'status',
};
