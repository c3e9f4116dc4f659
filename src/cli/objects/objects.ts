/** Readers of the parts of an object that every kind has; the server is not trusted. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';

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

/** Returns the items of a list, or the object itself. */
export const itemsOf = (object: JsonObject): JsonObject[] =>
  Array.isArray(object.items) ? recordsAt(object, 'items') : [object];

function stringMap(value: unknown): Record<string, string> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([key, item]) => [key, String(item)]));
}

/** Returns labels such as `app=web,tier=front`, or `<none>`. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  const parts = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`);
  return parts.join(',') || '<none>';
}

/** Returns the pod selector of a workload or a service as a label selector's text; empty if it has none. */
export function podSelectorOf(object: JsonObject): string {
  const selector = recordAt(object, 'spec', 'selector');
  const expressions = recordsAt(selector, 'matchExpressions').map(expressionText);
  const plain = isRecord(selector.matchLabels) || expressions.length > 0 ? selector.matchLabels : selector;
  const labels = stringMap(plain);
  return [...Object.keys(labels).map((key) => `${key}=${labels[key]}`), ...expressions].join(',');
}

function expressionText(expression: JsonObject): string {
  const key = textAt(expression, 'key');
  const values = Array.isArray(expression.values) ? expression.values.join(',') : '';
  switch (textAt(expression, 'operator')) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'NotIn':
      return `${key} notin (${values})`;
    default:
      return `${key} in (${values})`;
  }
}

/** Returns true if a pod has terminated. */
export const hasEnded = (pod: JsonObject): boolean =>
  ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'));
