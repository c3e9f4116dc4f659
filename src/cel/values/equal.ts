/** Equality and order of values. */
import type { Run } from '../evaluation/run.ts';
import { keyOf } from './collections.ts';
import { isUnordered, unorderedEqual } from './unordered.ts';
import {
  Duration,
  List,
  MapValue,
  ObjectValue,
  Opaque,
  Optional,
  Timestamp,
  Uint,
  type Value,
} from './value.ts';

/** Returns whether the values are equal. Numbers are compared across their types; other types differ. */
export function equal(left: Value, right: Value, run: Run): boolean {
  if (left === right) return true;
  if (isNumeric(left)) return isNumeric(right) && compareNumbers(left, right) === 0;
  return isComposite(left) && isComposite(right) && equalComposites(left, right, run);
}

function isComposite(value: Value): value is Exclude<Value, null | boolean | bigint | number | string> {
  return typeof value === 'object' && value !== null;
}

function equalComposites(left: object, right: object, run: Run): boolean {
  run.work(3);
  if (left instanceof List) return right instanceof List && equalLists(left, right, run);
  if (left instanceof MapValue) return right instanceof MapValue && equalMaps(left, right, run);
  if (left instanceof ObjectValue) return right instanceof ObjectValue && left.equals(right, run);
  if (left instanceof Opaque) return right instanceof Opaque && left.equals(right);
  return equalSmall(left, right, run);
}

function equalSmall(left: object, right: object, run: Run): boolean {
  if (left instanceof Uint8Array) return right instanceof Uint8Array && compareBytes(left, right, run) === 0;
  if (!(left instanceof Optional && right instanceof Optional)) return false;
  if (left.value === undefined || right.value === undefined) return left.value === right.value;
  return equal(left.value, right.value, run);
}

function equalLists(left: List, right: List, run: Run): boolean {
  if (left.length !== right.length) return false;
  if (isUnordered(left)) return unorderedEqual(left, right, run, equal);
  run.work(left.length);
  for (let at = 0; at < left.length; at++) if (!equal(left.at(at), right.at(at), run)) return false;
  return true;
}

function equalMaps(left: MapValue, right: MapValue, run: Run): boolean {
  if (left.size !== right.size) return false;
  run.work(left.size);
  for (const key of left.keys()) {
    const own = left.get(key);
    const other = right.get(key);
    if (own === undefined || other === undefined || !equal(own, other, run)) return false;
  }
  return true;
}

export type Numeric = bigint | number | Uint;

export function isNumeric(value: Value): value is Numeric {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;
}

/**
 * Returns a negative number, 0 or a positive number; NaN when one is not a number. An int is compared with a
 * double as a double, as upstream does.
 */
export function compareNumbers(left: Numeric, right: Numeric): number {
  const one = left instanceof Uint ? left.value : left;
  const other = right instanceof Uint ? right.value : right;
  if (typeof one === typeof other) return order(one, other);
  return order(Number(one), Number(other));
}

function order(left: bigint | number, right: bigint | number): number {
  if (left < right) return -1;
  if (left > right) return 1;
  return left === right ? 0 : Number.NaN;
}

/** Compares by code points, as Go compares UTF-8. */
export function compareStrings(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const one = left.charCodeAt(at);
    const other = right.charCodeAt(at);
    if (one !== other) return rank(one) - rank(other);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

export function compareBytes(left: Uint8Array, right: Uint8Array, run: Run): number {
  const length = Math.min(left.length, right.length);
  run.work(length / 16);
  for (let at = 0; at < length; at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Returns undefined when values of these types have no order. */
export function compare(left: Value, right: Value, run: Run): number | undefined {
  if (isNumeric(left)) return isNumeric(right) ? compareNumbers(left, right) : undefined;
  if (typeof left === 'string' && typeof right === 'string') return compareStrings(left, right);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  return left instanceof Uint8Array && right instanceof Uint8Array
    ? compareBytes(left, right, run)
    : compareTimes(left, right);
}

function compareTimes(left: Value, right: Value): number | undefined {
  const both =
    (left instanceof Duration && right instanceof Duration) ||
    (left instanceof Timestamp && right instanceof Timestamp);
  return both ? compareNumbers(left.nanos, right.nanos) : undefined;
}

/** Returns whether the value is an element of the list, or a key of the map. */
export function contains(container: List | MapValue, value: Value, run: Run): boolean {
  if (container instanceof MapValue) return keyOf(value) !== undefined && container.get(value) !== undefined;
  run.work(container.length / 8);
  for (let at = 0; at < container.length; at++) if (equal(container.at(at), value, run)) return true;
  return false;
}
