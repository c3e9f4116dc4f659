/**
 * Removal of fields that a schema does not specify, as upstream
 * (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning).
 */
import { deepCopy, isRecord, type JsonObject, setOwn } from '../equality.ts';
import {
  fieldSchema,
  headFields,
  isEmbedded,
  preservesUnknown,
  propertyOf,
  type StructuralSchema,
} from './schema.ts';

export interface Pruned<T> {
  /** A copy that shares nothing with the original. */
  readonly value: T;
  /** Paths of the removed fields, sorted, such as `spec.ports[0].nmae`. */
  readonly removed: readonly string[];
}

/**
 * Returns the value without the fields that the schema does not specify. With `isObject`, the value is an
 * object of the API: its apiVersion, kind and metadata are kept. Example: for the schema `{type: 'object',
 * properties: {a: …}}`, `{a: 1, b: 2}` becomes `{a: 1}`, and `b` is reported.
 */
export function pruned(value: unknown, schema: StructuralSchema, isObject?: boolean): Pruned<unknown>;
export function pruned(value: JsonObject, schema: StructuralSchema, isObject?: boolean): Pruned<JsonObject>;
export function pruned(value: unknown, schema: StructuralSchema, isObject = false): Pruned<unknown> {
  const removed: string[] = [];
  const by = { schema, embedded: isObject || isEmbedded(schema), keeps: preservesUnknown(schema) };
  const rest = prune(value, by, '', removed);
  return { value: rest, removed: removed.sort() };
}

/** Fields that a value may have. Without a schema, no field is specified. */
interface Specified {
  readonly schema: StructuralSchema | undefined;
  /** True if the value is an object of the API. */
  readonly embedded: boolean;
  /** True if fields that are not specified are kept. */
  readonly keeps: boolean;
}

const specified = (schema: StructuralSchema | undefined, keeps = false): Specified => ({
  schema,
  embedded: schema !== undefined && isEmbedded(schema),
  keeps: keeps || (schema !== undefined && preservesUnknown(schema)),
});

function prune(value: unknown, by: Specified, path: string, removed: string[]): unknown {
  if (!by.schema && by.keeps) return deepCopy(value);
  if (Array.isArray(value)) {
    const items = specified(by.schema?.items, by.keeps);
    return value.map((item, index) => prune(item, items, `${path}[${index}]`, removed));
  }
  return isRecord(value) ? pruneObject(value, by, path, removed) : value;
}

function pruneObject(object: JsonObject, by: Specified, path: string, removed: string[]): JsonObject {
  const result: JsonObject = {};
  for (const [key, inner] of Object.entries(object)) {
    if (inner === undefined) continue;
    const at = path ? `${path}.${key}` : key;
    const fate = fateOf(key, by);
    if (fate === 'pruned') setOwn(result, key, prune(inner, innerOf(by.schema, key), at, removed));
    else if (fate === 'kept') setOwn(result, key, deepCopy(inner));
    else removed.push(at);
  }
  return result;
}

function fateOf(key: string, { schema, embedded, keeps }: Specified): 'pruned' | 'kept' | 'removed' {
  if (embedded && headFields.has(key)) return 'kept';
  if (isSpecified(schema, key)) return 'pruned';
  return keeps ? 'kept' : 'removed';
}

/** Returns true if the schema specifies the field, be it without a schema of its own. */
function isSpecified(schema: StructuralSchema | undefined, key: string): boolean {
  if (!schema) return false;
  return schema.additionalProperties !== undefined || propertyOf(schema, key) !== undefined;
}

const innerOf = (schema: StructuralSchema | undefined, key: string): Specified =>
  specified(schema && fieldSchema(schema, key));
