/** Values of Go templates. */
import { isRecord, type JsonObject } from '../equality.ts';

/** JSON data, whole numbers of the template (bigint), and undefined for a missing key. */
export type Value = JsonObject | readonly unknown[] | string | number | bigint | boolean | null | undefined;

/** An error of a template at the data that it is evaluated on. */
export class TemplateError extends Error {}

/** Returns false for zero values and for empty texts, lists and objects. */
export function isTrue(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isRecord(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}
