/** Checks the fields of an object: only those of a table are allowed, each with its own check. */

import type { Check, Place } from './check-values.ts';
import { keyPath } from './report.ts';
import type { QueryLanguage } from './types.ts';

export interface Field {
  readonly check: Check;
  readonly required?: boolean;
  /** Query language in which the field is allowed; default: both. */
  readonly language?: QueryLanguage;
  /** Reason for the rejection of a field that the language of AWS has and this one does not support. */
  readonly refused?: string;
}

export type Fields = Readonly<Record<string, Field>>;

type Value = Readonly<Record<string, unknown>>;

/** Checks the fields. `what` names the object in messages, such as `a Wait state`. */
export function checkFields(value: Value, path: string, place: Place, fields: Fields, what: string): void {
  for (const [key, inner] of Object.entries(value)) {
    const at = keyPath(path, key);
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const refusal = refusalOf(field, place, what);
    if (refusal !== undefined) place.report.forbidden(at, refusal);
    else field?.check(inner, at, place);
  }
  for (const [key, { required, language = place.language }] of Object.entries(fields))
    if (required && language === place.language && !Object.hasOwn(value, key))
      place.report.required(keyPath(path, key));
}

function refusalOf(field: Field | undefined, place: Place, what: string): string | undefined {
  if (field === undefined) return `${what} has no such field`;
  const { refused, language = place.language } = field;
  if (refused !== undefined || language === place.language) return refused;
  return `is for the query language ${language}, and this is ${place.language}`;
}

/** Checks that exactly one of the fields is present; with `atMost` none is allowed too. */
export function checkOneOf(
  value: Value,
  path: string,
  { report }: Place,
  keys: readonly string[],
  atMost = false,
): void {
  const [first, ...more] = keys.filter((key) => Object.hasOwn(value, key));
  for (const key of more) report.forbidden(keyPath(path, key), `cannot stand beside ${first}`);
  if (first === undefined && !atMost) report.required(path, `needs one of ${keys.join(', ')}`);
}
