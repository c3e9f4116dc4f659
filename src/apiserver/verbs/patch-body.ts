/** Patches in requests, for kinds with and without merge rules. */
import { conversion, type FieldValidation } from '../../apimachinery/decode.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { ObjectType } from '../../apimachinery/field-types.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { hasStrategicPatch } from '../../apimachinery/openapi.ts';
import { applyPatch, concernsOwners, type Patch, patchTypes, readPatch } from '../../apimachinery/patch.ts';
import { objectTypeOf } from '../../apimachinery/schema-types.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import { readBody } from '../body/body.ts';
import { unowned } from '../registry/field-ownership.ts';
import type { Part } from '../registry/preparation.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { mediaType } from './read-body.ts';

const general: readonly string[] = [patchTypes.json, patchTypes.merge];

const typeOf = (scope: RequestScope) => objectTypeOf(scope.served, scope.server.fields);

/**
 * Reads a patch. Throws 415 for another patch type and 400 for a patch that cannot be parsed. `type` is the
 * type that is patched; defaults to the kind. Applied configurations are read elsewhere (apply.ts).
 */
export async function readPatchBody(scope: RequestScope, type = typeOf(scope)): Promise<Patch> {
  const merges = hasStrategicPatch(type, scope.server.fields);
  const accepted = [...general, ...(merges ? [patchTypes.strategic] : []), patchTypes.apply];
  const media = mediaType(scope.request);
  // Do not read the body of an unsupported patch type.
  const text = accepted.includes(media) ? (await readBody(scope)).toString() : '';
  const patch = readPatch(text, media, accepted);
  await scope.work.pause();
  return patch;
}

/** Returns a patched copy of the value. Throws 422 for an operation that cannot be applied. */
export const patchValue = (patch: Patch, current: object, type: ObjectType): JsonObject =>
  applyPatch(current as JsonObject, patch, type);

/**
 * Returns a patched copy of the object, checked like an object that was sent. The current object and the
 * result are in the stored version, the patch is in the served one.
 */
export async function patchObject(
  scope: RequestScope,
  patch: Patch,
  current: KubeObject,
  validation: FieldValidation,
  part: Part,
): Promise<KubeObject> {
  const whole = asServed(scope.served, current);
  // managedFields that the patch does not concern are left out and stay as they are; they are half of most
  // objects.
  const shown = concernsOwners(patch) ? whole : unowned(whole);
  const patched = patchValue(patch, shown, typeOf(scope));
  if (part === 'status') keepDesire(patched, shown);
  await scope.work.pause();
  return changedObject(scope, shown, patched, validation);
}

/**
 * Restores everything but metadata and status. Clients patch a status with objects whose required fields are
 * empty, which is no change.
 */
function keepDesire(patched: JsonObject, shown: object): void {
  for (const [key, value] of Object.entries(shown))
    if (!['apiVersion', 'kind', 'metadata', 'status'].includes(key)) patched[key] = value;
}

/**
 * Returns a changed object in the stored version, checked like an object that was sent. `before` and `after`
 * are in the served version; `before` is undefined for a new object. The client is only warned of problems
 * that `before` did not have.
 */
export async function changedObject(
  { server, served, warnings, work }: RequestScope,
  before: unknown,
  after: unknown,
  validation: FieldValidation,
): Promise<KubeObject> {
  const convert = (value: unknown, checked: FieldValidation) =>
    work.through(conversion(server.fields, served, value, checked));
  const decoded = await convert(after, validation);
  await work.pause();
  if (decoded.warnings.length > 0) {
    const known = new Set(before === undefined ? [] : (await convert(before, 'Warn')).warnings);
    await work.pause();
    for (const warning of warnings) known.add(warning);
    warnings.push(...new Set(decoded.warnings).difference(known));
  }
  return decoded.object;
}
