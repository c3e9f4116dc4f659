/** Patches as they come in a request, for kinds with and without merge rules. */
import { kubernetesFields } from '../../api/field-table.ts';
import { convertObject, type FieldValidation } from '../../apimachinery/decode.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { hasStrategicPatch } from '../../apimachinery/openapi.ts';
import { applyPatch, type Patch, patchTypes, readPatch } from '../../apimachinery/patch.ts';
import { objectTypeOf } from '../../apimachinery/schema-types.ts';
import { readBody } from '../body.ts';
import type { RequestScope } from '../request-scope.ts';
import { mediaType } from './read-object.ts';

const general: readonly string[] = [patchTypes.json, patchTypes.merge];

const typeOf = (scope: RequestScope) => objectTypeOf(scope.definition, kubernetesFields);

/** Throws 415 for another kind of patch, 400 for one that can not be read. */
export async function readPatchBody(scope: RequestScope, strategic = true): Promise<Patch> {
  const merges = strategic && hasStrategicPatch(typeOf(scope), kubernetesFields);
  const accepted = merges ? [...general, patchTypes.strategic] : general;
  const type = mediaType(scope.request);
  // The body of a kind of patch that is not accepted is not worth reading.
  const text = accepted.includes(type) ? (await readBody(scope)).toString() : '';
  return readPatch(text, type, accepted);
}

/** A patched copy of the value; throws 422 for an operation that can not be applied. */
export const patchValue = (scope: RequestScope, patch: Patch, current: object): JsonObject =>
  applyPatch(current as JsonObject, patch, typeOf(scope));

/**
 * A patched copy of the object, checked as if it had been sent. The client is warned of what its patch brings, not
 * of what was there before.
 */
export function patchObject(
  scope: RequestScope,
  patch: Patch,
  current: KubeObject,
  validation: FieldValidation,
): KubeObject {
  const { definition, warnings } = scope;
  const patched = patchValue(scope, patch, current);
  const decoded = convertObject(kubernetesFields, definition, patched, validation);
  if (decoded.warnings.length > 0) {
    const known = new Set(convertObject(kubernetesFields, definition, current, 'Warn').warnings);
    for (const warning of decoded.warnings) {
      if (!known.has(warning) && !warnings.includes(warning)) warnings.push(warning);
    }
  }
  return decoded.object;
}
