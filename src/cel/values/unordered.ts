/** Lists whose order means nothing: sets, and objects with keys (x-kubernetes-list-type `set` and `map`). */
import type { Run } from '../evaluation/run.ts';
import { ValueList } from './collections.ts';
import { List, type ObjectValue, type Value } from './value.ts';

/** A list with the rule by which its elements are distinguished. */
export abstract class UnorderedList extends List {
  abstract readonly uniqueBy: 'value' | readonly string[];
}

type Equal = (left: Value, right: Value, run: Run) => boolean;

export function isUnordered(list: List): list is UnorderedList {
  return list instanceof UnorderedList;
}

/** Returns whether two lists of one length have the same elements in any order. */
export function unorderedEqual(left: UnorderedList, right: List, run: Run, equal: Equal): boolean {
  const others = buckets(right, left.uniqueBy);
  run.work(left.length);
  for (let at = 0; at < left.length; at++) {
    const own = left.at(at);
    const same = others.get(identity(own, left.uniqueBy)) ?? [];
    const found = same.findIndex((index) => equal(own, right.at(index), run));
    if (found === -1) return false;
    same.splice(found, 1);
  }
  return true;
}

/**
 * Returns the left list with the elements of the right one that it does not have yet; of objects with keys,
 * the right one's replace those with the same keys.
 */
export function merge(left: UnorderedList, right: List, run: Run): List {
  const { uniqueBy } = left;
  run.work(left.length + right.length);
  const elements = Array.from({ length: left.length }, (_, at) => left.at(at));
  const places = buckets(left, uniqueBy);
  for (let at = 0; at < right.length; at++) {
    const element = right.at(at);
    const id = identity(element, uniqueBy);
    const place = places.get(id)?.[0];
    if (place === undefined) {
      places.set(id, [elements.length]);
      elements.push(element);
    } else if (uniqueBy !== 'value') elements[place] = element;
  }
  return new MergedList(elements, uniqueBy);
}

class MergedList extends UnorderedList {
  readonly uniqueBy: 'value' | readonly string[];
  private readonly list: ValueList;
  constructor(elements: Value[], uniqueBy: 'value' | readonly string[]) {
    super();
    this.list = new ValueList(elements);
    this.uniqueBy = uniqueBy;
  }
  get length(): number {
    return this.list.length;
  }
  at(index: number): Value {
    return this.list.at(index);
  }
}

function buckets(list: List, uniqueBy: 'value' | readonly string[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (let at = 0; at < list.length; at++) {
    const id = identity(list.at(at), uniqueBy);
    const same = found.get(id);
    if (same) same.push(at);
    else found.set(id, [at]);
  }
  return found;
}

/** Text that equal elements share: of sets the scalar, of objects the values of their keys. */
function identity(element: Value, uniqueBy: 'value' | readonly string[]): string {
  if (uniqueBy === 'value') return scalarText(element);
  if (typeof element !== 'object' || element === null || !('declares' in element)) return '';
  const object: ObjectValue = element;
  return JSON.stringify(uniqueBy.map((key) => scalarText(object.get(key) ?? null)));
}

function scalarText(value: Value): string {
  return typeof value === 'object' && value !== null ? 'object' : `${typeof value}:${String(value)}`;
}
