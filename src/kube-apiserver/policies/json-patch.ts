/**
 * Mutations of the patch type JSONPatch: an expression makes a list of operations (upstream:
 * policy/mutating/patch, json_patch.go). Pure.
 */
import { type JsonObject, setOwn } from '../../apimachinery/equality.ts';
import type { ObjectType } from '../../apimachinery/field-types.ts';
import { applyPatch } from '../../apimachinery/patch.ts';
import { FailedTest, readJsonPatch } from '../../apimachinery/patch-json.ts';
import { MadeObject } from '../../cel/values/made-object.ts';
import { toJson } from '../../cel/values/to-json.ts';
import { List, typeNameOf, type Value } from '../../cel/values/value.ts';
import { misnamedTypes, patchLimits } from './patch-types.ts';

/**
 * Returns the patched object, or `shown` itself if an operation `test` of the patch fails. `shown` is not
 * changed. Throws an Error that says what is wrong.
 */
export function withJsonPatch(shown: JsonObject, made: Value, type: ObjectType): JsonObject {
  if (!(made instanceof List))
    throw new Error(`type mismatch: JSONPatch expression should evaluate to array, not ${typeNameOf(made)}`);
  checkNames(made);
  const operations = toJson(made, patchLimits) as readonly unknown[];
  try {
    return applyPatch(shown, { kind: 'json', operations: readJsonPatch(operations.map(operation)) }, type);
  } catch (error) {
    if (error instanceof FailedTest) return shown;
    throw new Error(`JSON Patch: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function checkNames(made: List): void {
  for (let at = 0; at < made.length; at++) {
    const item = made.at(at);
    if (!(item instanceof MadeObject)) throw new Error(`type mismatch: item ${at} is not a JSONPatch`);
    const value = item.get('value');
    const misnamed = value instanceof MadeObject ? misnamedTypes(value, value.typeName) : [];
    if (misnamed.length > 0) throw new Error(`type mismatch: ${misnamed.join('\n')}`);
  }
}

/** Returns the operation as a client would send it, without an empty `from`. */
function operation(made: unknown): JsonObject {
  const sent: JsonObject = {};
  for (const [field, value] of Object.entries(made as JsonObject))
    if (field !== 'from' || value !== '') setOwn(sent, field, value);
  return sent;
}
