/**
 * How much a body may hold. Reading, checking and storing an object costs for each of its values, on the one thread that
 * serves everybody, and three megabytes can hold a million of them. So they are counted before anything else is done.
 */
import { newBadRequest, newStatusError } from './status-error.ts';

/** Objects, lists, texts, numbers and whatever else stands in a field or in a list (docs/decisions/0018). */
export const maxValues = 30_000;

/** What a patch may make of an object: there is room for what controllers and the server itself add to one of that size. */
export const maxPatchedValues = 1.5 * maxValues;

/** Deeper values are refused: whoever walks one must not run out of stack. */
export const maxDepth = 500;

/** A body that cannot be parsed; the message is one line that says where and why. */
export class TextError extends Error {
  override readonly name = 'TextError';
}

export const tooDeep = () => new TextError(`the value is nested deeper than ${maxDepth} levels`);

/** A 413, as for a body of too many bytes. */
export const tooManyValues = () =>
  newStatusError(
    'RequestEntityTooLarge',
    `Request entity too large: limit is ${maxValues} values, counting every field and every item of a list`,
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
 * Counts what a JSON text holds. Throws for too many values or too deep ones; whether it is JSON at all is for the parser
 * to say. Looks at each character once and keeps nothing.
 */
export function measureJson(text: string): JsonSize {
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
        if (++depth > maxDepth) throw tooDeep();
        if (++values > maxValues) throw tooManyValues();
        break;
      case comma:
        if (++values > maxValues) throw tooManyValues();
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
