/** Defaults that hold for a type wherever it stands, as Go's generated defaulting functions apply them. Pure. */
import { isRecord, type JsonObject } from './equality.ts';
import type { FieldType, ObjectType } from './field-types.ts';

/** By the name of a type; each fills in one object of it, in place, and does nothing the second time. */
export type TypeDefaults = Readonly<Record<string, (object: JsonObject) => void>>;

/** Changes `value`, an object of `type`, in place: itself first, then what is in it. */
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

/** For numbers of which Go cannot distinguish absent from 0. */
export function fillZero(object: JsonObject, values: Readonly<Record<string, number>>): void {
  for (const [key, value] of Object.entries(values)) object[key] ||= value;
}
