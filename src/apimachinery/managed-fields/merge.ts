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
  const merged: JsonObject = { ...live };
  for (const [key, inner] of Object.entries(applied ?? {})) {
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
  const [inLeft, inRight] = [new Set(left), new Set(right)];
  const shared = right.filter((element) => inLeft.has(element));
  const order: Next[] = [];
  const done = new Set<PathElement>();
  let nextShared = 0;
  const take = (element: PathElement) => {
    order.push({ element });
    done.add(element);
    if (shared[nextShared] === element) nextShared++;
  };
  /** Returns true for a shared item that comes later: it is placed where the applied list has it. */
  const waits = (element: PathElement) =>
    inRight.has(element) && shared[nextShared] !== undefined && shared[nextShared] !== element;
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [mine, wanted] = [left[l], right[r]];
    if (mine !== undefined && mine === wanted) {
      take(mine);
      l++;
      r++;
    } else if (mine !== undefined && wanted !== undefined && waits(mine)) l++;
    else if (mine !== undefined && !inRight.has(mine)) order.push({ element: mine, at: l++ });
    else {
      if (mine !== undefined && done.has(mine)) l++;
      if (wanted !== undefined) {
        take(wanted);
        r++;
      }
    }
  }
  return order;
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
