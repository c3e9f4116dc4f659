/**
 * Objects as Go's encoder writes them after it has read them into their types: fields in the order of the
 * type, and the fields that Go always shows. Pure.
 */
import { isRecord, type JsonObject } from './equality.ts';
import type { Field, FieldType, ObjectType } from './field-types.ts';

/** Returns the object in Go's form. Fields that the type does not have are kept, behind the others. */
export function goShape(object: JsonObject, type: ObjectType): JsonObject {
  const shaped: Record<string, unknown> = Object.create(null);
  for (const field of type.fields.values()) {
    const value = shapedField(object[field.name], field);
    if (value !== undefined) shaped[field.name] = value;
  }
  for (const [name, value] of Object.entries(object)) if (!type.fields.has(name)) shaped[name] = value;
  return Object.fromEntries(Object.entries(shaped));
}

function shapedField(value: unknown, { type, pointer, omitsZero }: Field): unknown {
  if (value !== undefined && value !== null) return shapedValue(value, type);
  if (pointer) return undefined;
  // A struct has no zero value that Go could omit.
  if (type.kind === 'object') return goShape({}, type.object);
  return omitsZero ? undefined : zeroOf(type);
}

function shapedValue(value: unknown, type: FieldType): unknown {
  if (type.kind === 'object' && isRecord(value)) return goShape(value, type.object);
  if (type.kind === 'list' && Array.isArray(value)) return value.map((item) => shapedValue(item, type.items));
  if (type.kind === 'map' && isRecord(value)) {
    const entries = Object.keys(value)
      .sort()
      .map((key) => [key, shapedValue(value[key], type.values)]);
    return Object.fromEntries(entries);
  }
  return value;
}

function zeroOf(type: FieldType): unknown {
  if (type.kind !== 'scalar') return null;
  if (['int32', 'int64', 'double'].includes(type.scalar)) return 0;
  if (type.scalar === 'bool') return false;
  if (type.scalar === 'intOrString') return 0;
  if (type.scalar === 'quantity') return '0';
  return type.scalar === 'string' ? '' : null;
}
