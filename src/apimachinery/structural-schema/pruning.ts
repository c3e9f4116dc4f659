/**
 * Removal of fields that a schema does not specify, as upstream
 * (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning).
 */
import { deepCopy, isRecord, type JsonObject, setOwn } from '../equality.ts';
import { extraOf, headFields, isEmbedded, preservesUnknown, propertyOf, type StructuralSchema } from './schema.ts';

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
  const rest = prune(value, { schema, embedded: isObject || isEmbedded(schema) }, '', removed);
  return { value: rest, removed: removed.sort() };
}

/** A schema, and whether it is the one of an object of the API. No schema: nothing is specified. */
interface Specified {
  readonly schema: StructuralSchema | undefined;
  readonly embedded: boolean;
}

const specified = (schema: StructuralSchema | undefined): Specified => ({
  schema,
  embedded: schema !== undefined && isEmbedded(schema),
});

function prune(value: unknown, by: Specified, path: string, removed: string[]): unknown {
  if (by.schema && preservesUnknown(by.schema)) return pruneKnown(value, by, path, removed);
  if (Array.isArray(value)) {
    const items = specified(by.schema?.items);
    return value.map((item, index) => prune(item, items, `${path}[${index}]`, removed));
  }
  if (!isRecord(value)) return value;
  const result: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const at = path ? `${path}.${key}` : key;
    if (by.embedded && headFields.has(key)) setOwn(result, key, deepCopy(inner));
    else if (isSpecified(by.schema, key)) setOwn(result, key, prune(inner, innerOf(by.schema, key), at, removed));
    else if (!headFields.has(key) || path !== '') removed.push(at);
  }
  return result;
}

/** Keeps what the schema does not specify, and prunes inside of what it specifies. */
function pruneKnown(value: unknown, by: Specified, path: string, removed: string[]): unknown {
  const { schema } = by;
  if (!schema) return deepCopy(value);
  if (Array.isArray(value)) {
    const items = specified(schema.items);
    return value.map((item, index) => pruneKnown(item, items, `${path}[${index}]`, removed));
  }
  if (!isRecord(value)) return value;
  const result: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const at = path ? `${path}.${key}` : key;
    const isKept = (by.embedded && headFields.has(key)) || !isSpecified(schema, key);
    setOwn(result, key, isKept ? deepCopy(inner) : prune(inner, innerOf(schema, key), at, removed));
  }
  return result;
}

/** Returns true if the schema specifies the field, be it without a schema of its own. */
function isSpecified(schema: StructuralSchema | undefined, key: string): boolean {
  if (!schema) return false;
  return schema.additionalProperties !== undefined || propertyOf(schema, key) !== undefined;
}

const innerOf = (schema: StructuralSchema | undefined, key: string): Specified =>
  specified(schema && (propertyOf(schema, key) ?? extraOf(schema)));
