/**
 * Mutations of the patch type ApplyConfiguration: an expression makes an Object, which is merged as
 * server-side apply merges (upstream: policy/mutating/patch, smd.go). Pure.
 */
import { decodeFields, noFindings } from '../../apimachinery/decode-fields.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { ObjectType } from '../../apimachinery/field-types.ts';
import { fieldsOf } from '../../apimachinery/managed-fields/fields-of.ts';
import { merge } from '../../apimachinery/managed-fields/merge.ts';
import { type Shape, settled, shapeOfType, shapeUnder } from '../../apimachinery/managed-fields/shape.ts';
import { checkGrowth } from '../../apimachinery/patch.ts';
import { MadeObject } from '../../cel/values/made-object.ts';
import { toJson } from '../../cel/values/to-json.ts';
import { typeNameOf, type Value } from '../../cel/values/value.ts';
import { misnamedTypes, patchLimits } from './patch-types.ts';

/** Returns the merged object; `shown` stays as it is. Throws an Error that says what is wrong. */
export function withConfiguration(shown: JsonObject, made: Value, type: ObjectType): JsonObject {
  if (!(made instanceof MadeObject))
    throw new Error(`unsupported return type from ApplyConfiguration expression: ${typeNameOf(made)}`);
  const misnamed = misnamedTypes(made, 'Object');
  if (misnamed.length > 0) throw new Error(`type mismatch: ${misnamed.join('\n')}`);
  const { apiVersion, kind } = shown;
  const configuration: JsonObject = { ...(toJson(made, patchLimits) as JsonObject), apiVersion, kind };
  const shape: Shape = { kind: 'fields', type };
  try {
    checkTyped(configuration, type, shape);
    const merged = merge(shown, configuration, shape) as JsonObject;
    checkGrowth(shown, merged);
    return merged;
  } catch (error) {
    throw new Error(`error applying patch: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function checkTyped(configuration: JsonObject, type: ObjectType, shape: Shape): void {
  const problem = typeProblem(configuration, type, shape);
  if (problem) throw new Error(`failed to convert patch object to typed object: ${problem}`);
  const atomic = atomicsIn(configuration, shape, '');
  if (atomic.length === 0) return;
  const why = `may not mutate atomic arrays, maps or structs: ${atomic.join(', ')}`;
  throw new Error(`invalid ApplyConfiguration: ${why}`);
}

/** Returns what is wrong with the types, the names of fields, or the keys of lists. */
function typeProblem(configuration: JsonObject, type: ObjectType, shape: Shape): string | undefined {
  const findings = noFindings();
  try {
    decodeFields(configuration, type, findings);
    fieldsOf(configuration, shape, 'once');
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const [first] = findings.unknown;
  return first === undefined ? undefined : `.${first}: field not declared in schema`;
}

/** Returns the paths of lists and objects that are owned as a whole: a part would replace all of them. */
function atomicsIn(value: unknown, of: Shape, path: string): readonly string[] {
  const shape = settled(of, value);
  if (shape.kind === 'leaf') return typeof value === 'object' && value !== null ? [path] : [];
  if (Array.isArray(value)) {
    if (shape.kind !== 'list') return [path];
    const items = shapeOfType(shape.items);
    return value.flatMap((item, index) => atomicsIn(item, items, `${path}[${index}]`));
  }
  if (!isRecord(value) || (shape.kind !== 'fields' && shape.kind !== 'map')) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    atomicsIn(inner, shapeUnder(shape, key), `${path}.${key}`),
  );
}
