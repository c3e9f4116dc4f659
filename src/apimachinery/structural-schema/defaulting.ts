/**
 * Defaults of a schema, as upstream (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting). They
 * apply to requests and to objects that are read from the storage.
 */
import { deepCopy, isRecord, type JsonObject, setOwn } from '../equality.ts';
import { countValues, maxGrownValues, maxNewValues, tooManyValues } from '../value-limit.ts';
import { extraOf, fieldSchema, propertyOf, type StructuralSchema } from './schema.ts';

/**
 * Returns a copy with the schema's defaults. A null where the schema does not allow it is replaced by the
 * default, and stays if there is none. Throws a 413 when the defaults add more values than an object may
 * have.
 */
export function withDefaults(value: unknown, schema: StructuralSchema): unknown;
export function withDefaults(value: JsonObject, schema: StructuralSchema): JsonObject;
export function withDefaults(value: unknown, schema: StructuralSchema): unknown {
  return defaulted(deepCopy(value), schema, { left: maxGrownValues });
}

/** Values that defaults may still add. */
interface Room {
  left: number;
}

/** Changes the value, which nobody else holds. */
function defaulted(value: unknown, schema: StructuralSchema | undefined, room: Room): unknown {
  if (!schema) return value;
  if (Array.isArray(value)) {
    const { items } = schema;
    for (const [index, item] of value.entries())
      value[index] = defaulted(replaced(item, items, room), items, room);
  } else if (isRecord(value)) fillObject(value, schema, room);
  return value;
}

function fillObject(object: JsonObject, schema: StructuralSchema, room: Room): void {
  addMissing(object, schema, room);
  for (const [key, inner] of Object.entries(object)) {
    const own = propertyOf(schema, key);
    const extra = own ? undefined : extraOf(schema);
    setOwn(object, key, defaulted(replaced(inner, extra, room), own ?? extra, room));
  }
}

function addMissing(object: JsonObject, schema: StructuralSchema, room: Room): void {
  for (const [key, inner] of defaultsOf(schema)) {
    const isMissing = !Object.hasOwn(object, key) || (object[key] === null && !inner.nullable);
    if (isMissing) setOwn(object, key, copied(inner.default, room));
  }
}

const known = new WeakMap<StructuralSchema, readonly (readonly [string, StructuralSchema])[]>();

/** Returns the properties that have a default; a schema may have thousands that have none. */
function defaultsOf(schema: StructuralSchema) {
  let found = known.get(schema);
  if (!found) {
    found = Object.entries(schema.properties ?? {}).filter(([, inner]) => hasDefault(inner));
    known.set(schema, found);
  }
  return found;
}

const hasDefault = (schema: StructuralSchema): boolean =>
  schema.default !== undefined && schema.default !== null;

/** Returns the default for a null that the schema does not allow; any other value unchanged. */
function replaced(value: unknown, schema: StructuralSchema | undefined, room: Room): unknown {
  if (value !== null || !schema || schema.nullable || !hasDefault(schema)) return value;
  return copied(schema.default, room);
}

function copied(value: unknown, room: Room): unknown {
  room.left -= countValues(value);
  if (room.left < 0) throw tooManyValues(maxNewValues);
  return deepCopy(value);
}

/**
 * Returns a copy without the fields that are null although the schema allows no null and has no default for
 * them. Items of lists stay.
 */
export function withoutNulls(value: unknown, schema: StructuralSchema | undefined): unknown;
export function withoutNulls(value: JsonObject, schema: StructuralSchema | undefined): JsonObject;
export function withoutNulls(value: unknown, schema: StructuralSchema | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, schema?.items));
  if (!isRecord(value)) return value;
  const result: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    const of = schema && fieldSchema(schema, key);
    const isRemoved = inner === null && of && !of.nullable && !hasDefault(of);
    if (inner !== undefined && !isRemoved) setOwn(result, key, withoutNulls(inner, of));
  }
  return result;
}
