/** Which fields differ between two values of one type, as structured-merge-diff tells it. Pure. */
import { deepEqual, isRecord } from '../equality.ts';
import { type FieldPath, FieldSet } from './field-set.ts';
import type { PathElement } from './path-element.ts';
import { elementOf, keysUnder, type Shape, settled, shapeOfType, shapeUnder, valueUnder } from './shape.ts';

/** A field is in one of them at most. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Throws a KeyError for a list whose items have no keys. */
export function compare(before: unknown, after: unknown, shape: Shape): Comparison {
  const found = { added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet() };
  walk(before, after, shape, [], found);
  return found;
}

type Parts = Readonly<Record<string, unknown>>;

/** Undefined is what is not there. */
function walk(before: unknown, after: unknown, of: Shape, path: FieldPath, found: Comparison): void {
  if (before === undefined && after === undefined) return;
  const shape = settled(of, after ?? before);
  if (shape.kind === 'leaf' || (isEmpty(before, shape) && isEmpty(after, shape))) {
    leaf(before, after, path, found);
    return;
  }
  if (shape.kind === 'list') walkList(listOf(before), listOf(after), shape, path, found);
  else if (shape.kind !== 'any') {
    const [one, other] = [partsOf(before), partsOf(after)];
    const keys = new Set([...(one ? keysUnder(shape, one) : []), ...(other ? keysUnder(shape, other) : [])]);
    for (const key of keys) {
      const [left, right] = [one && valueUnder(shape, one, key), other && valueUnder(shape, other, key)];
      walk(left, right, shapeUnder(shape, key), [...path, `f:${key}`], found);
    }
  }
  if (before === undefined) found.added.add(path);
  else if (after === undefined) found.removed.add(path);
}

function leaf(before: unknown, after: unknown, path: FieldPath, found: Comparison): void {
  if (before === undefined) found.added.add(path);
  else if (after === undefined) found.removed.add(path);
  else if (!deepEqual(before, after)) found.modified.add(path);
}

function walkList(
  before: readonly unknown[],
  after: readonly unknown[],
  shape: Shape & { kind: 'list' },
  path: FieldPath,
  found: Comparison,
): void {
  const items = shapeOfType(shape.items);
  const [one, other] = [byElement(before, shape), byElement(after, shape)];
  for (const element of new Set([...one.keys(), ...other.keys()])) {
    const [left = [], right = []] = [one.get(element), other.get(element)];
    const at = [...path, element];
    // Items with one key that stand there several times are owned together.
    if (left.length <= 1 && right.length <= 1) walk(left[0], right[0], items, at, found);
    else if (left.length > 1 && right.length > 1) {
      if (!deepEqual(left, right)) found.modified.add(at);
    } else if (left.length > 1) {
      if (right.length > 0) walk(undefined, right[0], items, at, found);
      found.removed.add(at);
    } else {
      if (left.length > 0) walk(left[0], undefined, items, at, found);
      found.added.add(at);
    }
  }
}

/** The items of a list by their steps, in order. */
export function byElement(
  list: readonly unknown[],
  shape: Shape & { kind: 'list' },
): Map<PathElement, unknown[]> {
  const items = new Map<PathElement, unknown[]>();
  for (const item of list) {
    const element = elementOf(shape, item);
    const same = items.get(element);
    if (same) same.push(item);
    else items.set(element, [item]);
  }
  return items;
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const partsOf = (value: unknown): Parts | undefined => (isRecord(value) ? value : undefined);

/** Not there, null, or without anything in it, also when Go writes it. */
export function isEmpty(value: unknown, shape: Shape): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && keysUnder(shape, value).length === 0;
}
