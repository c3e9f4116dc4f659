/** Defaults of a type, applied wherever the type is used, as Go's generated defaulting functions do. Pure. */
import { isRecord, type JsonObject } from './equality.ts';
import type { FieldType, ObjectType } from './field-types.ts';

/** Defaulting functions by type name; each fills in one object in place, and is idempotent. */
export type TypeDefaults = Readonly<Record<string, (object: JsonObject) => void>>;

/** Changes `value`, an object of `type`, in place: first the object itself, then its fields. */
export function fillDefaults(value: unknown, type: ObjectType, defaults: TypeDefaults): void {
  if (!isRecord(value)) return;
  defaults[type.name]?.(value);
  for (const [key, inner] of Object.entries(value)) {
    const field = type.fields.get(key);
    if (field) fillField(inner, field.type, defaults);
  }
}

function fillField(value: unknown, type: FieldType, defaults: TypeDefaults): void {
  if (type.kind === 'object') fillDefaults(value, type.object, defaults);
  else if (type.kind === 'list' && Array.isArray(value))
    for (const item of value) fillField(item, type.items, defaults);
  else if (type.kind === 'map' && isRecord(value))
    for (const item of Object.values(value)) fillField(item, type.values, defaults);
}

/** Sets absent fields; an empty string counts as absent, as in Go. */
export function fillAbsent(object: JsonObject, values: JsonObject): void {
  for (const [key, value] of Object.entries(values)) {
    const present = object[key];
    if (present === undefined || present === null || present === '') object[key] = value;
  }
}

/** Sets numbers that are absent or 0, for fields in which Go cannot distinguish the two. */
export function fillZero(object: JsonObject, values: Readonly<Record<string, number>>): void {
  for (const [key, value] of Object.entries(values)) object[key] ||= value;
}
