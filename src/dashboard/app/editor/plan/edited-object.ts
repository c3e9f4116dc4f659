/** The text that a user edits, and the object that is sent for it. Pure. */
import { isRecord, type JsonObject } from '../../../../apimachinery/equality.ts';
import { recordAt } from '../../../../apimachinery/fields.ts';
import type { KubeObject } from '../../../../apimachinery/meta.ts';
import { applyMergePatch, createMergePatch } from '../../../../apimachinery/patch-merge.ts';

/** Fields of the metadata that the server sets. */
const serverFields = [
  'managedFields',
  'resourceVersion',
  'uid',
  'generation',
  'creationTimestamp',
  'selfLink',
];

/** Returns the part of an object that can be edited; the status only if the kind keeps it with the rest. */
export function editablePart(object: KubeObject, hasStatusSubresource: boolean): JsonObject {
  const { status, ...rest } = object as KubeObject & { readonly status?: unknown };
  const metadata = Object.fromEntries(
    Object.entries(object.metadata).filter(([field]) => !serverFields.includes(field)),
  );
  const { apiVersion, kind, metadata: _, ...fields } = rest;
  return {
    apiVersion,
    kind,
    metadata,
    ...fields,
    ...(!hasStatusSubresource && status !== undefined && { status }),
  };
}

/**
 * Returns the object to send for an edited text, at the version on which the edit began. Throws an Error with
 * a sentence for the user if the text is not an object, or names another one.
 */
export function objectToSend(value: unknown, base: KubeObject): JsonObject {
  if (!isRecord(value)) throw new Error('The text is not an object: it needs apiVersion, kind and metadata.');
  const metadata = recordAt(value, 'metadata');
  for (const field of ['name', 'namespace'] as const)
    if (metadata[field] !== base.metadata[field])
      throw new Error(
        `metadata.${field} must stay ${base.metadata[field] ?? 'absent'}: another name is another object.`,
      );
  const { resourceVersion, uid } = base.metadata;
  return { ...value, metadata: { ...metadata, resourceVersion, uid } };
}

/** Returns the newest object with the changes that a user made to an older one. */
export function rebased(before: JsonObject, edited: JsonObject, newest: JsonObject): JsonObject {
  const patch = createMergePatch(before, edited);
  return patch === undefined ? newest : (applyMergePatch(newest, patch) as JsonObject);
}

/** Returns the path of a field that a rejection names: `spec.containers[0].image` has four steps. */
export const pathOfField = (field: string): (string | number)[] =>
  Array.from(field.matchAll(/\[(\d+)\]|\[([^\]]+)\]|([^.[\]]+)/g), ([, index, key, name]) =>
    index === undefined ? (key ?? name ?? '') : Number(index),
  );
