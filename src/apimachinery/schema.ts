/** Building blocks for the schemas of kinds: valibot with Kubernetes' conventions. */
import * as v from 'valibot';
import type { ObjectMeta } from './meta.ts';

/**
 * Returns the schema of an object whose listed fields are typed and whose other fields are kept unchanged,
 * such as Kubernetes' fields that minik8s does not act on. Fields that Kubernetes does not have are removed
 * before a schema is applied. `null` means that a field is absent, as in Go's JSON decoder.
 */
export function struct<const E extends v.ObjectEntries>(entries: E): v.ObjectSchema<E, undefined> {
  return v.looseObject(entries) as unknown as v.ObjectSchema<E, undefined>;
}

export const int32 = () => v.pipe(v.number(), v.integer(), v.minValue(-2147483648), v.maxValue(2147483647));
export const int64 = () => v.pipe(v.number(), v.safeInteger());
export const intOrString = () => v.union([int32(), v.string()]);
/** A quantity such as `100m` or `1Gi`; a JSON number is read as its decimal text. */
export const quantity = () =>
  v.union([
    v.string(),
    v.pipe(
      v.number(),
      v.transform((n) => String(n)),
    ),
  ]);
export const stringMap = () => v.record(v.string(), v.string());
/** RFC 3339. */
export const time = () => v.string();

const ownerReferenceSchema = struct({
  apiVersion: v.string(),
  kind: v.string(),
  name: v.string(),
  uid: v.string(),
  controller: v.optional(v.boolean()),
  blockOwnerDeletion: v.optional(v.boolean()),
});

export const objectMetaSchema = struct({
  name: v.optional(v.string(), ''),
  generateName: v.optional(v.string()),
  namespace: v.optional(v.string()),
  uid: v.optional(v.string(), ''),
  resourceVersion: v.optional(v.string(), ''),
  generation: v.optional(int64()),
  creationTimestamp: v.optional(time(), ''),
  deletionTimestamp: v.optional(time()),
  deletionGracePeriodSeconds: v.optional(int64()),
  labels: v.optional(stringMap()),
  annotations: v.optional(stringMap()),
  ownerReferences: v.optional(v.array(ownerReferenceSchema)),
  finalizers: v.optional(v.array(v.string())),
  managedFields: v.optional(v.array(v.unknown())),
}) satisfies v.GenericSchema<unknown, ObjectMeta>;

export const labelSelectorSchema = struct({
  matchLabels: v.optional(stringMap()),
  matchExpressions: v.optional(
    v.array(
      struct({
        key: v.string(),
        operator: v.picklist(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: v.optional(v.array(v.string())),
      }),
    ),
  ),
});

export type LabelSelector = v.InferOutput<typeof labelSelectorSchema>;

/** Schema of a condition. The descriptions are used for minik8s' kinds; Kubernetes' kinds have their own. */
export const conditionSchema = struct({
  type: v.pipe(v.string(), v.description('The type of the condition, such as Ready.')),
  status: v.pipe(
    v.picklist(['True', 'False', 'Unknown']),
    v.description('The status of the condition: True, False or Unknown.'),
  ),
  reason: v.optional(v.pipe(v.string(), v.description('Why, in one word for programs.'))),
  message: v.optional(v.pipe(v.string(), v.description('Why, in a sentence for people.'))),
  lastTransitionTime: v.optional(v.pipe(time(), v.description('When the status last changed.'))),
  lastUpdateTime: v.optional(v.pipe(time(), v.description('When the condition was last written.'))),
  lastProbeTime: v.optional(v.pipe(time(), v.description('When the condition was last probed.'))),
  lastHeartbeatTime: v.optional(v.pipe(time(), v.description('When the condition was last confirmed.'))),
  observedGeneration: v.optional(
    v.pipe(int64(), v.description('The metadata.generation that the condition was computed from.')),
  ),
});

export type Condition = v.InferOutput<typeof conditionSchema>;
