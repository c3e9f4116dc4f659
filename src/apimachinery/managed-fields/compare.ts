/** The fields that differ between two values of one type, as in structured-merge-diff. Pure. */
import { deepEqual, isRecord } from '../equality.ts';
import { FieldSet } from './field-set.ts';
import type { PathElement } from './path-element.ts';
import { alwaysUnder, elementOf, type Shape, settled, shapeOfType, stepUnder, valueUnder } from './shape.ts';

/** Each field is in at most one of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/**
 * Compares two values, ignoring the members of `without` and everything below them. Throws a KeyError for a
 * list whose items have no keys.
 */
export function compare(before: unknown, after: unknown, shape: Shape, without?: FieldSet): Comparison {
  const found = { added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet() };
  walkInto(before, after, settled(shape, after ?? before), new Level(found, without));
  return found;
}

type Difference = keyof Comparison;

/** A place in both values; its sets are created when a difference is found. */
class Level {
  readonly #sets: { [D in Difference]?: FieldSet };
  readonly #without: FieldSet | undefined;
  readonly #above: Level | undefined;
  readonly #element: PathElement;

  constructor(
    sets: { [D in Difference]?: FieldSet },
    without: FieldSet | undefined,
    above?: Level,
    element: PathElement = '',
  ) {
    this.#sets = sets;
    this.#without = without;
    this.#above = above;
    this.#element = element;
  }

  below(element: PathElement): Level {
    return new Level({}, this.#without?.children.get(element), this, element);
  }

  passes(element: PathElement): boolean {
    return this.#without?.members.has(element) ?? false;
  }

  add(difference: Difference, element: PathElement): void {
    this.#set(difference).members.add(element);
  }

  #set(difference: Difference): FieldSet {
    let set = this.#sets[difference];
    if (!set) {
      set = new FieldSet();
      this.#sets[difference] = set;
      if (this.#above) this.#above.#set(difference).children.set(this.#element, set);
    }
    return set;
  }
}

type Parts = Readonly<Record<string, unknown>>;

/** Compares the two values of one step; undefined is an absent value. */
function walk(before: unknown, after: unknown, of: Shape, level: Level, element: PathElement): void {
  if ((before === undefined && after === undefined) || level.passes(element)) return;
  const shape = settled(of, after ?? before);
  const isLeaf = areWhole(before, after, shape);
  if (!isLeaf) walkInto(before, after, shape, level.below(element));
  if (before === undefined) level.add('added', element);
  else if (after === undefined) level.add('removed', element);
  else if (isLeaf && !deepEqual(before, after)) level.add('modified', element);
}

function walkInto(before: unknown, after: unknown, shape: Shape, level: Level): void {
  if (shape.kind === 'list') walkList(listOf(before), listOf(after), shape, level);
  else if (shape.kind === 'fields' || shape.kind === 'map')
    walkParts(partsOf(before), partsOf(after), shape, level);
}

function walkParts(
  one: Parts | undefined,
  other: Parts | undefined,
  shape: Shape & { kind: 'fields' | 'map' },
  level: Level,
): void {
  for (const key of Object.keys(one ?? {})) walkKey(one, other, shape, level, key);
  for (const key of Object.keys(other ?? {}))
    if (!one || !Object.hasOwn(one, key)) walkKey(one, other, shape, level, key);
  walkAlways(one, other, shape, level);
}

/** Compares the fields that Go writes for the only value that exists, even if they were not set. */
function walkAlways(
  one: Parts | undefined,
  other: Parts | undefined,
  shape: Shape & { kind: 'fields' | 'map' },
  level: Level,
): void {
  const only = one && other ? undefined : (one ?? other);
  // If both values exist, a key that neither has is no difference.
  if (!only) return;
  for (const key of alwaysUnder(shape)) if (!Object.hasOwn(only, key)) walkKey(one, other, shape, level, key);
}

function walkKey(
  before: Parts | undefined,
  after: Parts | undefined,
  shape: Shape & { kind: 'fields' | 'map' },
  level: Level,
  key: string,
): void {
  const { element, shape: under } = stepUnder(shape, key);
  const left = before && valueUnder(shape, before, key);
  const right = after && valueUnder(shape, after, key);
  walk(left, right, under, level, element);
}

function walkList(
  before: readonly unknown[],
  after: readonly unknown[],
  shape: Shape & { kind: 'list' },
  level: Level,
): void {
  const items = shapeOfType(shape.items);
  const [one, other] = [byElement(before, shape), byElement(after, shape)];
  for (const element of new Set([...one.keys(), ...other.keys()])) {
    const [left = [], right = []] = [one.get(element), other.get(element)];
    if (left.length <= 1 && right.length <= 1) walk(left[0], right[0], items, level, element);
    else walkRepeated(left, right, items, level, element);
  }
}

/** Compares items that have the same key in one list: such items are owned together. */
function walkRepeated(
  before: readonly unknown[],
  after: readonly unknown[],
  items: Shape,
  level: Level,
  element: PathElement,
): void {
  if (before.length > 1 && after.length > 1) {
    if (!deepEqual(before, after)) level.add('modified', element);
  } else if (before.length > 1) {
    if (after.length > 0) walk(undefined, after[0], items, level, element);
    level.add('removed', element);
  } else {
    if (before.length > 0) walk(before[0], undefined, items, level, element);
    level.add('added', element);
  }
}

/** Returns the items of a list by their path elements, in order. */
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

/** Returns true if two values are compared as a whole: single values, and values without members. */
export const areWhole = (before: unknown, after: unknown, shape: Shape): boolean =>
  shape.kind === 'leaf' || (isEmpty(before, shape) && isEmpty(after, shape));

/**
 * Returns true for an absent value, null, and a list or an object without members, including members that Go
 * would write.
 */
export function isEmpty(value: unknown, shape: Shape): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && alwaysUnder(shape).length === 0 && Object.keys(value).length === 0;
}
