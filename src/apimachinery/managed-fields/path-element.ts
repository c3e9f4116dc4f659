/**
 * One step from a value into what it holds, as text: `f:spec` a field, `k:{"name":"web"}` the item of a list with that key,
 * `v:"a"` the item of a set, `i:3` the item at that place. The text of a step is the same however it was spelled, so that sets
 * compare texts. FieldsV1 has the same form (structured-merge-diff, fieldpath).
 */
import { isRecord } from '../equality.ts';

export type PathElement = string;

export const fieldElement = (name: string): PathElement => `f:${name}`;
export const valueElement = (value: unknown): PathElement => `v:${JSON.stringify(value)}`;

/** `keys` in the order of their names. */
export function keyElement(key: Readonly<Record<string, unknown>>): PathElement {
  const parts = Object.keys(key)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(key[name])}`);
  return `k:{${parts.join(',')}}`;
}

/** Undefined for a step of a kind that nobody knows here; throws for one that is malformed. */
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
 * As structured-merge-diff orders them: fields, keys, values, places; texts by their bytes. Each is read once, since a list may
 * have thousands of items.
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

/** Only with these do UTF-16 and code points have different orders. */
const aboveSurrogates = /[\ud800-\uffff]/;

/** Keys by one name, of characters behind the quote that ends them: their order is that of their texts. */
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

/** The order of code points, which is that of their bytes in UTF-8; UTF-16 has another. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [one, other] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (one !== other) return inOrder(one) - inOrder(other);
  }
  return a.length - b.length;
}

/** Halves of a pair stand for code points behind all others. */
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

/** As messages show it: `.spec`, `[name="web"]`, `[="a"]`, `[3]`. */
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
