/** An applied configuration merged into what is there, as structured-merge-diff does it. Pure; shares what is unchanged. */
import { isRecord, type JsonObject, setOwn } from '../equality.ts';
import { listOf } from './compare.ts';
import type { PathElement } from './path-element.ts';
import { elementOf, type Shape, settled, shapeOfType, shapeUnder } from './shape.ts';

/** Undefined on one side is what is not there. An applied list has each item once. */
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

/** What both have stands in the order of what is applied; what only the live list has keeps its place before what followed it. */
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

/** `at` is the place of what only the live list has. */
interface Next {
  readonly element: PathElement;
  readonly at?: number;
}

/** The order of structured-merge-diff: what both have as it is applied, what is live alone as near its neighbours as that allows. */
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
  /** A shared item whose turn has not come: it goes where the applied list has it. */
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

/** By step; null where an item stands there several times, which is not merged but replaced. */
function valuesOf(list: readonly unknown[], elements: readonly PathElement[]): Map<PathElement, unknown> {
  const values = new Map<PathElement, unknown>();
  for (const [index, element] of elements.entries())
    values.set(element, values.has(element) ? null : list[index]);
  return values;
}
