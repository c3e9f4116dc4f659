/** Comparing and copying API objects: plain JSON data without cycles. */

/** Returns true if two values mean the same; a property that is undefined counts as absent. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const key of keys) if (!deepEqual(own(a, key), own(b, key))) return false;
  return true;
}

/**
 * Returns a key for sets and maps: the same text for values that `deepEqual` calls equal, and another text
 * otherwise.
 */
export function identityOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  const parts: string[] = [];
  writeIdentity(value, parts);
  return parts.join('');
}

function writeIdentity(value: unknown, parts: string[]): void {
  if (Array.isArray(value)) {
    parts.push('[');
    for (const item of value) {
      writeIdentity(item, parts);
      parts.push(',');
    }
    parts.push(']');
  } else if (isRecord(value)) writeIdentityOfObject(value, parts);
  else parts.push(JSON.stringify(value) ?? 'undefined');
}

function writeIdentityOfObject(object: JsonObject, parts: string[]): void {
  parts.push('{');
  for (const key of Object.keys(object).sort()) {
    if (object[key] === undefined) continue;
    parts.push(JSON.stringify(key), ':');
    writeIdentity(object[key], parts);
    parts.push(',');
  }
  parts.push('}');
}

/** Returns a copy that shares nothing with the original; undefined properties are left out. */
export function deepCopy<T>(value: T): T {
  return copy(value) as T;
}

export type JsonObject = Record<string, unknown>;

export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (!isRecord(value)) return value;
  const result: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) if (inner !== undefined) setOwn(result, key, copy(inner));
  return result;
}

const own = (object: JsonObject, key: string) => (Object.hasOwn(object, key) ? object[key] : undefined);

/** Assigns a key that came from outside: `__proto__` becomes an ordinary property. */
export function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** Returns a copy with the keys of all objects sorted, as Go writes maps. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isRecord(value)) return value;
  const sorted: JsonObject = {};
  for (const key of Object.keys(value).sort()) setOwn(sorted, key, sortKeys(value[key]));
  return sorted;
}

/** Returns a flag for each text: true if the same text stands earlier in the list. */
export function repeats(texts: readonly string[]): readonly boolean[] {
  const seen = new Set<string>();
  return texts.map((text) => {
    const isRepeated = seen.has(text);
    seen.add(text);
    return isRepeated;
  });
}
