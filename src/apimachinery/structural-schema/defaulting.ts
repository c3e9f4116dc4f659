/**
 * Defaults of a schema, as upstream (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting). They
 * apply to requests and to objects that are read from the storage.
 */
import { deepCopy, isRecord, type JsonObject, setOwn } from '../equality.ts';
import { extraOf, fieldSchema, propertyOf, type StructuralSchema } from './schema.ts';

/**
 * Returns a copy with the schema's defaults. A null where the schema does not allow it is replaced by the
 * default, and stays if there is none.
 */
export function withDefaults(value: unknown, schema: StructuralSchema): unknown;
export function withDefaults(value: JsonObject, schema: StructuralSchema): JsonObject;
export function withDefaults(value: unknown, schema: StructuralSchema): unknown {
  return defaulted(deepCopy(value), schema);
}

/** Changes the value, which nobody else holds. */
function defaulted(value: unknown, schema: StructuralSchema | undefined): unknown {
  if (!schema) return value;
  if (Array.isArray(value)) {
    const { items } = schema;
    for (const [index, item] of value.entries()) value[index] = defaulted(replaced(item, items), items);
  } else if (isRecord(value)) {
    addMissing(value, schema);
    for (const [key, inner] of Object.entries(value)) {
      const own = propertyOf(schema, key);
      const extra = own ? undefined : extraOf(schema);
      setOwn(value, key, defaulted(replaced(inner, extra), own ?? extra));
    }
  }
  return value;
}

function addMissing(object: JsonObject, schema: StructuralSchema): void {
  for (const [key, inner] of defaultsOf(schema)) {
    const isMissing = !Object.hasOwn(object, key) || (object[key] === null && !inner.nullable);
    if (isMissing) setOwn(object, key, deepCopy(inner.default));
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
function replaced(value: unknown, schema: StructuralSchema | undefined): unknown {
  if (value !== null || !schema || schema.nullable || !hasDefault(schema)) return value;
  return deepCopy(schema.default);
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
