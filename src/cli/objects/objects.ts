/** Readers of the parts of an object that every kind has; the server is not trusted. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { recordsAt } from '../../apimachinery/fields.ts';

export {
  type Metadata,
  metadataOf,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  valueAt,
} from '../../apimachinery/fields.ts';
export { hasEnded, podSelectorOf } from '../../views/pods.ts';

/** Returns the items of a list, or the object itself. */
export const itemsOf = (object: JsonObject): JsonObject[] =>
  Array.isArray(object.items) ? recordsAt(object, 'items') : [object];

/** Returns labels such as `app=web,tier=front`, or `<none>`. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  const parts = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`);
  return parts.join(',') || '<none>';
}
