import * as v from 'valibot';
import { struct } from '../../../apimachinery/schema.ts';

/** Which object something is about. */
export const objectReferenceSchema = struct({
  kind: v.optional(v.string()),
  namespace: v.optional(v.string()),
  name: v.optional(v.string()),
  uid: v.optional(v.string()),
  apiVersion: v.optional(v.string()),
  resourceVersion: v.optional(v.string()),
  fieldPath: v.optional(v.string()),
});
