/**
 * Merges an applied configuration into a live value, as structured-merge-diff does. Pure; the result shares
 * unchanged parts.
 */
import { isRecord, type JsonObject, setOwn } from '../equality.ts';
import { listOf } from './compare.ts';
import type { PathElement } from './path-element.ts';
import { elementOf, type Shape, settled, shapeOfType, shapeUnder } from './shape.ts';

/** Returns the merged value; undefined is an absent value. An applied list has each item once. */
export function merge(live: unknown, applied: unknown, of: Shape): unknown {
  if (applied === undefined) return live;
  if (hasNothing(live)) return applied;
  const shape = settled(of, applied);
  if (shape.kind === 'list') return mergeLists(listOf(live), listOf(applied), shape);
  if ((shape.kind !== 'fields' && shape.kind !== 'map') || !isRecord(live)) return applied;
  if (applied !== null && !isRecord(applied)) return applied;
  return mergeKeys(live, applied ?? {}, shape);
}

function mergeKeys(
  live: JsonObject,
  applied: JsonObject,
  shape: Shape & { kind: 'fields' | 'map' },
): JsonObject {
  const merged: JsonObject = { ...live };
  for (const [key, inner] of Object.entries(applied)) {
    if (inner === undefined) continue;
    setOwn(
      merged,
      key,
      merge(Object.hasOwn(live, key) ? live[key] : undefined, inner, shapeUnder(shape, key)),
    );
  }
  return merged;
}

function hasNothing(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === null;
  return Object.keys(value).length === 0;
}

/**
 * Merges lists: shared items have the applied order; an item of the live list alone stays before the items
 * that followed it.
 */
function mergeLists(
  live: readonly unknown[],
  applied: readonly unknown[],
  shape: Shape & { kind: 'list' },
): unknown[] {
  const items = shapeOfType(shape.items);
  const left = live.map((item) => elementOf(shape, item));
  const right = applied.map((item) => elementOf(shape, item));
  const theirs = valuesOf(live, left);
  const ours = valuesOf(applied, right);
  return inOrder(left, right).map(({ element, at }) =>
    at === undefined ? merge(theirs.get(element), ours.get(element), items) : live[at],
  );
}

/** `at` is the index of an item that only the live list has. */
interface Next {
  readonly element: PathElement;
  readonly at?: number;
}

/**
 * Returns the order of structured-merge-diff: shared items in the applied order, items of the live list alone
 * as near to their neighbors as that order allows.
 */
function inOrder(left: readonly PathElement[], right: readonly PathElement[]): readonly Next[] {
  const order = new Order(left, right);
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [mine, wanted] = [left[l], right[r]];
    if (mine !== undefined && order.goesOn(mine, wanted)) {
      order.pass(mine, l);
      l++;
      continue;
    }
    if (mine !== undefined && order.isDone(mine, wanted)) l++;
    if (wanted !== undefined) {
      order.take(wanted);
      r++;
    }
  }
  return order.items;
}

/** The order of a merged list while it is made. */
class Order {
  readonly items: Next[] = [];
  readonly #inRight: ReadonlySet<PathElement>;
  /** Items of both lists, in the applied order. */
  readonly #shared: readonly PathElement[];
  readonly #done = new Set<PathElement>();
  #nextShared = 0;

  constructor(left: readonly PathElement[], right: readonly PathElement[]) {
    const inLeft = new Set(left);
    this.#inRight = new Set(right);
    this.#shared = right.filter((element) => inLeft.has(element));
  }

  /** Appends an item of the applied list. */
  take(element: PathElement): void {
    this.items.push({ element });
    this.#done.add(element);
    if (this.#shared[this.#nextShared] === element) this.#nextShared++;
  }

  /** Appends the item of the live list at index `at`, if only the live list has it. */
  pass(element: PathElement, at: number): void {
    if (!this.#inRight.has(element)) this.items.push({ element, at });
  }

  /**
   * Returns true if the item of the live list is already appended, or is the next item of the applied list.
   */
  isDone(element: PathElement, wanted: PathElement | undefined): boolean {
    return element === wanted || this.#done.has(element);
  }

  /**
   * Returns true if the live list advances next: past an item that only it has, and past a shared item that
   * comes later in the applied order and is appended there.
   */
  goesOn(element: PathElement, wanted: PathElement | undefined): boolean {
    if (element === wanted) return false;
    if (!this.#inRight.has(element)) return true;
    const next = this.#shared[this.#nextShared];
    return wanted !== undefined && next !== undefined && next !== element;
  }
}

/**
 * Returns the values by path element; null for an element with several items, which are replaced and not
 * merged.
 */
function valuesOf(list: readonly unknown[], elements: readonly PathElement[]): Map<PathElement, unknown> {
  const values = new Map<PathElement, unknown>();
  for (const [index, element] of elements.entries())
    values.set(element, values.has(element) ? null : list[index]);
  return values;
}
