/**
 * One path element, from a value to a part of it, as text: `f:spec` is a field, `k:{"name":"web"}` the list
 * item with that key, `v:"a"` the set item with that value, `i:3` the item at that index. Equal elements have
 * equal texts, however they were spelled, so that sets compare texts. FieldsV1 has the same form
 * (structured-merge-diff, fieldpath).
 */
import { isRecord } from '../equality.ts';

export type PathElement = string;

export const fieldElement = (name: string): PathElement => `f:${name}`;
export const valueElement = (value: unknown): PathElement => `v:${JSON.stringify(value)}`;

/** Returns the element of a list item; its key fields are sorted by name. */
export function keyElement(key: Readonly<Record<string, unknown>>): PathElement {
  const parts = Object.keys(key)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(key[name])}`);
  return `k:{${parts.join(',')}}`;
}

/** Parses an element. Returns undefined for an unknown kind of element; throws for a malformed one. */
export function parseElement(text: string): PathElement | undefined {
  const kind = text.slice(0, 2);
  if (kind.length < 2 || kind[1] !== ':') throw new Error(`${JSON.stringify(text)} is no step of a path`);
  const rest = text.slice(2);
  if (kind === 'f:') return text;
  if (kind === 'i:') {
    if (!/^-?\d{1,15}$/.test(rest)) throw new Error(`${JSON.stringify(text)} is no place in a list`);
    return `i:${Number(rest)}`;
  }
  if (kind !== 'k:' && kind !== 'v:') return undefined;
  const value: unknown = JSON.parse(rest);
  if (kind === 'v:') return valueElement(value);
  if (!isRecord(value)) throw new Error(`${JSON.stringify(text)} is no key of a list`);
  return keyElement(value);
}

const kinds = 'fkvi';

/**
 * Sorts elements as structured-merge-diff does: fields, keys, values, indexes; texts by their bytes. Each
 * element is parsed once, since a list may have thousands of items.
 */
export function inElementOrder(elements: Iterable<PathElement>): PathElement[] {
  const all = [...elements];
  if (all.length < 2) return all;
  if (all.every((element) => element.startsWith('f:')))
    return all.some((element) => aboveSurrogates.test(element)) ? all.sort(compareTexts) : all.sort();
  if (isNamedAlike(all)) return all.sort();
  return all
    .map((element) => ({ element, kind: kinds.indexOf(element[0] ?? ''), value: orderValue(element) }))
    .sort((a, b) => a.kind - b.kind || compareValues(a.value, b.value))
    .map(({ element }) => element);
}

/** The only characters for which UTF-16 order and code point order differ. */
const aboveSurrogates = /[\ud800-\uffff]/;

/**
 * Returns true for keys with the same single field name and simple characters, which sort after the closing
 * quote: such elements sort like their texts.
 */
function isNamedAlike(elements: readonly PathElement[]): boolean {
  const [, start] = /^(k:\{"[A-Za-z]+":")[\w./-]*"\}$/.exec(elements[0] ?? '') ?? [];
  return (
    start !== undefined &&
    elements.every((element) => element.startsWith(start) && plainEnd.test(element.slice(start.length)))
  );
}

const plainEnd = /^[\w./-]*"\}$/;

function orderValue(element: PathElement): unknown {
  const rest = element.slice(2);
  if (element[0] === 'f') return rest;
  return element[0] === 'i' ? Number(rest) : JSON.parse(rest);
}

/** Compares in the order of code points, which is the order of UTF-8 bytes; UTF-16 has another order. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [one, other] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (one !== other) return inOrder(one) - inOrder(other);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all others. */
const inOrder = (unit: number) => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

const rankOf = (value: unknown) => {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (Array.isArray(value)) return 3;
  return value === null ? 5 : 4;
};

function compareValues(a: unknown, b: unknown): number {
  const byRank = rankOf(a) - rankOf(b);
  if (byRank !== 0) return byRank;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  if (isRecord(a) && isRecord(b)) return compareLists(Object.entries(a).flat(), Object.entries(b).flat());
  return Array.isArray(a) && Array.isArray(b) ? compareLists(a, b) : 0;
}

function compareLists(a: readonly unknown[], b: readonly unknown[]): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = compareValues(a[index], b[index]);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Formats an element as messages show it: `.spec`, `[name="web"]`, `[="a"]`, `[3]`. */
export function describeElement(element: PathElement): string {
  const rest = element.slice(2);
  if (element[0] === 'f') return `.${rest}`;
  if (element[0] === 'v') return `[=${rest}]`;
  if (element[0] === 'i') return `[${rest}]`;
  const key = JSON.parse(rest) as Record<string, unknown>;
  return `[${Object.entries(key)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}]`;
}
