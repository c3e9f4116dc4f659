/** Readers of fields of an object whose sender is not trusted: a field of another type counts as absent. */
import { isRecord, type JsonObject } from './equality.ts';

export interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly deletionTimestamp: string | undefined;
  readonly creationTimestamp: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export function metadataOf(object: JsonObject): Metadata {
  const metadata = recordAt(object, 'metadata');
  return {
    name: textAt(metadata, 'name'),
    namespace: textAt(metadata, 'namespace'),
    uid: textAt(metadata, 'uid'),
    resourceVersion: textAt(metadata, 'resourceVersion'),
    generation: numberAt(metadata, 'generation'),
    deletionTimestamp: textAt(metadata, 'deletionTimestamp') || undefined,
    creationTimestamp: textAt(metadata, 'creationTimestamp') || undefined,
    labels: stringMap(metadata.labels),
    annotations: stringMap(metadata.annotations),
  };
}

/** Returns the value at a path of fields; undefined if there is none. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    value,
  );
}

export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** Returns the number at a path; 0 if there is none. */
export function numberAt(value: unknown, ...path: readonly string[]): number {
  const found = valueAt(value, ...path);
  return typeof found === 'number' ? found : 0;
}

export function recordAt(value: unknown, ...path: readonly string[]): JsonObject {
  const found = valueAt(value, ...path);
  return isRecord(found) ? found : {};
}

export function recordsAt(value: unknown, ...path: readonly string[]): JsonObject[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found.filter(isRecord) : [];
}

/** Returns the texts of a list; empty if there is none. */
export const stringsAt = (value: unknown, ...path: readonly string[]): string[] => {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found.map(String) : [];
};

export function stringMap(value: unknown): Record<string, string> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([key, item]) => [key, String(item)]));
}
