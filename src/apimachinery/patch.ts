/** The three kinds of PATCH body that change an object by instruction; server-side apply is elsewhere. */
import { isRecord, type JsonObject } from './equality.ts';
import type { ObjectType } from './field-types.ts';
import { parseJson } from './json-decode.ts';
import { applyJsonPatch, type JsonPatchOperation, readJsonPatch } from './patch-json.ts';
import { applyMergePatch } from './patch-merge.ts';
import { applyStrategicPatch } from './patch-strategic.ts';
import { newBadRequest, newStatusError } from './status-error.ts';
import { countOwnValues, maxGrownValues, TextError, tooManyValues } from './value-limit.ts';

export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** A patch that is parsed once and can be applied to every newer state of its object. */
export type Patch =
  | { readonly kind: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly kind: 'merge'; readonly value: JsonObject }
  | { readonly kind: 'strategic'; readonly value: JsonObject };

/**
 * Parses a patch body. Throws BadRequest for a body that is not a patch, UnsupportedMediaType for a content
 * type that is not in `accepted` (kinds that Kubernetes does not have lack a strategic merge patch).
 */
export function readPatch(body: string, contentType: string | undefined, accepted: readonly string[]): Patch {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!accepted.includes(mediaType)) throw unsupported(accepted);
  switch (mediaType) {
    case patchTypes.json:
      return { kind: 'json', operations: readJsonPatch(readBody(body)) };
    case patchTypes.merge:
      return { kind: 'merge', value: readObject(body) };
    case patchTypes.strategic:
      return { kind: 'strategic', value: readObject(body) };
    default:
      throw unsupported(accepted);
  }
}

/**
 * Returns a patched copy of the object. Throws BadRequest, Invalid (422) or, for an object that grew too
 * large, a 413. Unknown fields are kept for the decoder to check.
 */
export function applyPatch(target: JsonObject, patch: Patch, type: ObjectType): JsonObject {
  const result = patched(target, patch, type);
  if (!isRecord(result)) throw newStatusError('Invalid', 'the result of the patch is not an object');
  checkGrowth(target, result);
  return result;
}

/**
 * Returns true if the patch depends on the object's managedFields. Only a JSON patch can; other patches
 * replace managedFields or leave them unchanged.
 */
export const concernsOwners = (patch: Patch): boolean =>
  patch.kind === 'json' &&
  patch.operations.some(
    (operation) => concerns(operation.path) || ('from' in operation && concerns(operation.from)),
  );

const ownersPath = '/metadata/managedFields';
/** A path above managedFields concerns them, too. */
const concerns = (path: string) => path === '' || path === '/metadata' || path.startsWith(ownersPath);

/**
 * Throws a 413 for an object that grew too large; an object that was already too large may still be made
 * smaller.
 */
export function checkGrowth(before: unknown, after: unknown): void {
  const values = countOwnValues(after);
  if (values > maxGrownValues && values > countOwnValues(before)) throw tooManyValues(maxGrownValues);
}

function patched(target: JsonObject, patch: Patch, type: ObjectType): unknown {
  switch (patch.kind) {
    case 'json':
      return applyJsonPatch(target, patch.operations);
    case 'merge':
      return applyMergePatch(target, patch.value);
    case 'strategic':
      return applyStrategicPatch(target, patch.value, type);
  }
}

function readBody(body: string): unknown {
  try {
    return parseJson(body, false).value;
  } catch (error) {
    if (error instanceof TextError) throw newBadRequest(`error decoding patch: ${error.message}`);
    throw error;
  }
}

function readObject(body: string): JsonObject {
  const value = readBody(body);
  if (!isRecord(value)) throw newBadRequest('error decoding patch: the patch must be an object');
  return value;
}

const unsupported = (accepted: readonly string[]) =>
  newStatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
