import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { int32, objectMetaSchema, struct, time } from '../../../apimachinery/schema.ts';

const objectReference = struct({
  kind: v.optional(v.string()),
  namespace: v.optional(v.string()),
  name: v.optional(v.string()),
  uid: v.optional(v.string()),
  apiVersion: v.optional(v.string()),
  resourceVersion: v.optional(v.string()),
  fieldPath: v.optional(v.string()),
});

const eventSchema = struct({
  apiVersion: v.literal('v1'),
  kind: v.literal('Event'),
  metadata: objectMetaSchema,
  involvedObject: objectReference,
  reason: v.optional(v.string()),
  message: v.optional(v.string()),
  type: v.optional(v.string()),
  count: v.optional(int32()),
  firstTimestamp: v.optional(time()),
  lastTimestamp: v.optional(time()),
  eventTime: v.optional(time()),
  source: v.optional(struct({ component: v.optional(v.string()), host: v.optional(v.string()) }), {}),
  reportingComponent: v.optional(v.string(), ''),
  reportingInstance: v.optional(v.string(), ''),
  action: v.optional(v.string()),
});

export type Event = v.InferOutput<typeof eventSchema>;

export const eventResource: ResourceDefinition<Event> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
  categories: [],
  namespaced: true,
  fieldsOf: 'CoreV1Event',
  schema: eventSchema,
  strategy: { countsGenerations: false },
  hasStatus: false,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'status',
};
