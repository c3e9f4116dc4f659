/** The data that a workflow works on. */
import { mostDataDepth } from './limits.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isJsonObject = (value: Json | undefined): value is JsonObject => isObject(value);

export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** What stands in the field itself, never what an object inherits. */
export const fieldOf = (value: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** Bytes of the value written as JSON in UTF-8: what the limits of the language are about. */
export const bytesOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Why the value is more than a state may be given or give; undefined when it is not. Depth is looked at first and without
 * recursion: everything else that walks through data may then recurse.
 */
export function excessOf(value: Json, mostBytes: number, mostDepth = mostDataDepth): string | undefined {
  let level: readonly Json[] = [value];
  // The same value may be there a thousand times: it is not written before it is known to be small enough for that.
  let least = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > mostDepth) return `holds values in one another more than ${mostDepth} levels deep`;
    const next: Json[] = [];
    for (const one of level) {
      const children = childrenOf(one);
      least += typeof one === 'string' ? one.length : children.length;
      if (least > mostBytes) return `has more bytes of JSON than ${mostBytes}`;
      for (const child of children) next.push(child);
    }
    level = next;
  }
  const bytes = bytesOf(value);
  return bytes > mostBytes ? `has ${bytes} bytes of JSON, and may have ${mostBytes}` : undefined;
}

/** The items of a list, the values of an object; of anything else none. */
export function childrenOf(value: Json): readonly Json[] {
  if (isList(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}
