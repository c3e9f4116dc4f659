/** Data that a workflow processes. */
import { maxDataDepth } from './limits.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isJsonObject = (value: Json | undefined): value is JsonObject => isObject(value);

export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** Returns an own property, never an inherited one. */
export const fieldOf = (value: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** Returns the bytes of the value as JSON in UTF-8, which is the unit of the limits of the language. */
export const bytesOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Returns the reason why the value exceeds the limits of a state's data, or undefined. Depth is checked first
 * and without recursion, so that all other functions on data may use recursion.
 */
export function excessOf(value: Json, maxBytes: number, maxDepth = maxDataDepth): string | undefined {
  let level: readonly Json[] = [value];
  // The same value may occur a thousand times, so it is serialized only after it is known to be small enough.
  let least = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return `holds values in one another more than ${maxDepth} levels deep`;
    const inner = levelBelow(level, maxBytes - least);
    if (inner === undefined) return `has more bytes of JSON than ${maxBytes}`;
    least += inner.bytes;
    level = inner.values;
  }
  const bytes = bytesOf(value);
  return bytes > maxBytes ? `has ${bytes} bytes of JSON, and may have ${maxBytes}` : undefined;
}

/**
 * Returns the children of all values, and the bytes that the values have at least. Returns undefined if these
 * are more than `maxBytes`.
 */
function levelBelow(level: readonly Json[], maxBytes: number) {
  const values: Json[] = [];
  let bytes = 0;
  for (const one of level) {
    const children = childrenOf(one);
    bytes += typeof one === 'string' ? one.length : children.length;
    if (bytes > maxBytes) return undefined;
    for (const child of children) values.push(child);
  }
  return { values, bytes };
}

/** Returns the items of a list or the values of an object; nothing for other values. */
export function childrenOf(value: Json): readonly Json[] {
  if (isList(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}
