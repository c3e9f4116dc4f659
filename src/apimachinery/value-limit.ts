/**
 * How much a body may hold. Reading, checking and storing an object costs for each of its values, on the one thread that
 * serves everybody, and three megabytes can hold a million of them. So they are counted before anything else is done.
 */
import { isRecord } from './equality.ts';
import { newBadRequest, newStatusError } from './status-error.ts';

/** Objects, lists, texts, numbers and whatever else stands in a field or in a list (docs/decisions/0018). */
export const maxValues = 30_000;

/** Of a new object with its defaults. */
export const maxNewValues = 1.25 * maxValues;

/**
 * Of an object that a patch has changed or that a part of this process sends: there is room for what controllers, nodes and
 * the server itself add to the largest new one.
 */
export const maxGrownValues = 1.5 * maxValues;

/** Of an object's managedFields, which come on top: more are not kept. */
export const maxOwnerValues = maxValues / 2;

/**
 * The most values of a body, and of the object that a creation makes of it. A part of this process (a controller) has no
 * address; it writes objects that are there, with what it adds to them.
 */
export const valueLimits = ({ remoteAddress }: { readonly remoteAddress: string | undefined }) =>
  remoteAddress === undefined
    ? { body: maxGrownValues, created: maxGrownValues }
    : { body: maxValues, created: maxNewValues };

/** Deeper values are refused: whoever walks one must not run out of stack. */
export const maxDepth = 500;

/** A body that cannot be parsed; the message is one line that says where and why. */
export class TextError extends Error {
  override readonly name = 'TextError';
}

export const tooDeep = (most = maxDepth) => new TextError(`the value is nested deeper than ${most} levels`);

/** A 413, as for a body of too many bytes. */
export const tooManyValues = (most = maxValues) =>
  newStatusError(
    'RequestEntityTooLarge',
    `Request entity too large: limit is ${most} values, counting every field and every item of a list`,
  );

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openingBracket = 0x5b;
const backslash = 0x5c;
const closingBracket = 0x5d;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

/** Of a JSON text. */
export interface JsonSize {
  readonly keys: number;
  /** At most; an empty object or list counts as two. */
  readonly values: number;
}

/**
 * Counts what a JSON text holds. Throws for more than `most` values or ones deeper than `deepest` levels; whether it is JSON at
 * all is for the parser to say. Looks at each character once and keeps nothing.
 */
export function measureJson(text: string, most = maxValues, deepest = maxDepth): JsonSize {
  let keys = 0;
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case colon:
        keys++;
        break;
      case openingBrace:
      case openingBracket:
        if (++depth > deepest) throw tooDeep(deepest);
        if (++values > most) throw tooManyValues(most);
        break;
      case comma:
        if (++values > most) throw tooManyValues(most);
        break;
      case closingBrace:
      case closingBracket:
        depth--;
        break;
    }
  }
  return { keys, values };
}

/** The index of the quote that closes the string that opens at `start`; the text's length when none does. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  return text.length;
}

/** The same of an object without its managedFields, and of any other value. */
export function countOwnValues(value: unknown): number {
  if (!isRecord(value) || !isRecord(value.metadata) || !value.metadata.managedFields)
    return countValues(value);
  const { managedFields: _, ...metadata } = value.metadata;
  return countValues({ ...value, metadata });
}

/** How many values there are in one, itself included. Throws a StatusError when they are too deep. */
export function countValues(value: unknown): number {
  let values = 1;
  let depth = 0;
  for (let level: unknown[] = [value]; level.length > 0; depth++) {
    if (depth > maxDepth) throw newBadRequest(tooDeep().message);
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      const inner: readonly unknown[] = Array.isArray(item) ? item : Object.values(item);
      values += inner.length;
      for (const one of inner) next.push(one);
    }
    level = next;
  }
  return values;
}
