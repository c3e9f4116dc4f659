/** JSON Merge Patch (RFC 7386): objects merge, null removes, everything else replaces. */
import { deepCopy, isRecord, type JsonObject, setOwn } from './equality.ts';

/** Returns a patched copy of the target. */
export const applyMergePatch = (target: unknown, patch: unknown): unknown => merge(deepCopy(target), patch);

/** Merges into `target`, in place where possible; the caller must own `target`. */
function merge(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return deepCopy(patch);
  const result: JsonObject = isRecord(target) ? target : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else setOwn(result, key, merge(Object.hasOwn(result, key) ? result[key] : undefined, value));
  }
  return result;
}

/** Returns the merge patch that turns one object into the other; undefined when they are equal. */
export function createMergePatch(from: JsonObject, to: JsonObject): JsonObject | undefined {
  const patch: JsonObject = {};
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) setOwn(patch, key, null);
  for (const [key, value] of Object.entries(to))
    patchField(patch, key, Object.hasOwn(from, key) ? from[key] : undefined, value);
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** Adds the difference between the old and the new value of a field to `patch`. */
function patchField(patch: JsonObject, key: string, old: unknown, value: unknown): void {
  if (isRecord(old) && isRecord(value)) {
    const inner = createMergePatch(old, value);
    if (inner) setOwn(patch, key, inner);
  } else if (JSON.stringify(old) !== JSON.stringify(value)) setOwn(patch, key, deepCopy(value));
}
