/**
 * Limits for the size of a body. Reading, checking and storing an object has a cost for each of its values,
 * on the one thread that serves all requests, and three megabytes can hold a million values. Therefore values
 * are counted first.
 */
import { isRecord } from './equality.ts';
import { newBadRequest, newStatusError } from './status-error.ts';

/**
 * Maximum of values in a body: objects, lists, texts, numbers and all other fields and items
 * (docs/decisions/0018).
 */
export const maxValues = 30_000;

/** Maximum of values in a new object with its defaults. */
export const maxNewValues = 1.25 * maxValues;

/**
 * Maximum of values in an object that a patch has changed or that a part of this process sends: leaves room
 * for what controllers, nodes and the server itself add to the largest new object.
 */
export const maxGrownValues = 1.5 * maxValues;

/** Maximum of values in an object's managedFields, which are counted separately: more are not kept. */
export const maxOwnerValues = maxValues / 2;

/**
 * Returns the maximum of values for a body, and for the object that a creation makes of it. A part of this
 * process (a controller) has no remote address; it updates existing objects, with additions.
 */
export const valueLimits = ({ remoteAddress }: { readonly remoteAddress: string | undefined }) =>
  remoteAddress === undefined
    ? { body: maxGrownValues, created: maxGrownValues }
    : { body: maxValues, created: maxNewValues };

/** Maximum depth: code that walks a deeper value could exhaust the stack. */
export const maxDepth = 500;

/** A body that cannot be parsed; the message is one line with the position and the reason. */
export class TextError extends Error {
  override readonly name = 'TextError';
}

export const tooDeep = (most = maxDepth) => new TextError(`the value is nested deeper than ${most} levels`);

/** Returns a 413, as for a body of too many bytes. */
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

/** Size of a JSON text. */
export interface JsonSize {
  readonly keys: number;
  /** An upper bound of the number of values: an empty object or list counts as two. */
  readonly values: number;
}

/**
 * Counts the keys and values of a JSON text. Throws for more than `most` values or for nesting deeper than
 * `deepest` levels; does not check that the text is valid JSON. Reads each character once and keeps nothing.
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
        values = oneMore(values, most);
        break;
      case comma:
        values = oneMore(values, most);
        break;
      case closingBrace:
      case closingBracket:
        depth--;
        break;
    }
  }
  return { keys, values };
}

/** Returns the next number of values; throws for more than `most`. */
function oneMore(values: number, most: number): number {
  if (values + 1 > most) throw tooManyValues(most);
  return values + 1;
}

/**
 * Returns the index of the quote that closes the string opened at `start`; the text's length if the string is
 * not closed.
 */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  return text.length;
}

/** Counts the values of an object without its managedFields, or of any other value. */
export function countOwnValues(value: unknown): number {
  if (!isRecord(value) || !isRecord(value.metadata) || !value.metadata.managedFields)
    return countValues(value);
  const { managedFields: _, ...metadata } = value.metadata;
  return countValues({ ...value, metadata });
}

/**
 * Returns the number of values in a value, itself included. Throws a StatusError when they are nested too
 * deeply.
 */
export function countValues(value: unknown): number {
  let values = 1;
  let depth = 0;
  for (let level: unknown[] = [value]; level.length > 0; depth++) {
    if (depth > maxDepth) throw newBadRequest(tooDeep().message);
    const next: unknown[] = [];
    for (const item of level) {
      const inner = membersOf(item);
      values += inner.length;
      for (const one of inner) next.push(one);
    }
    level = next;
  }
  return values;
}

const noMembers: readonly unknown[] = [];

/** Returns the items of a list or the values of an object's fields. */
function membersOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return noMembers;
  return Array.isArray(value) ? value : Object.values(value);
}
