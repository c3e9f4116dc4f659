/**
 * Operators, except the logical ones and the conditional, which do not need all operands
 * (evaluation/calls.ts).
 */
import { comparison, concatenation, fixed, listConcatenation, membership } from '../cost/costs.ts';
import type { Run } from '../evaluation/run.ts';
import { concatenate, ValueMap } from '../values/collections.ts';
import { compare, contains, equal } from '../values/equal.ts';
import { maxTimestamp, minTimestamp } from '../values/time.ts';
import { isUnordered, merge } from '../values/unordered.ts';
import {
  Duration,
  Fault,
  List,
  MapValue,
  maxInt,
  maxUint,
  minInt,
  noSuchOverload,
  Opaque,
  Optional,
  type Result,
  Timestamp,
  Uint,
  type Value,
} from '../values/value.ts';
import type { Cost, Declaration } from './overload.ts';

type Apply = Declaration[1];

const intOverflow = new Fault('integer overflow');
const uintOverflow = new Fault('unsigned integer overflow');
const durationOverflow = new Fault('duration overflow');
const timestampOverflow = new Fault('timestamp overflow');
const byZero = new Fault('division by zero');
const moduloByZero = new Fault('modulus by zero');

export function checkedInt(value: bigint): Result {
  return value > maxInt || value < minInt ? intOverflow : value;
}

export function checkedUint(value: bigint): Result {
  return value > maxUint || value < 0n ? uintOverflow : new Uint(value);
}

export function checkedDuration(nanos: bigint): Result {
  return nanos > maxInt || nanos < minInt ? durationOverflow : new Duration(nanos);
}

function checkedTimestamp(nanos: bigint): Result {
  return nanos > maxTimestamp || nanos < minTimestamp ? timestampOverflow : new Timestamp(nanos);
}

function ints(work: (left: bigint, right: bigint) => Result): Apply {
  return ([left, right]) =>
    typeof left === 'bigint' && typeof right === 'bigint' ? work(left, right) : noSuchOverload;
}

function uints(work: (left: bigint, right: bigint) => Result): Apply {
  return ([left, right]) =>
    left instanceof Uint && right instanceof Uint ? work(left.value, right.value) : noSuchOverload;
}

function doubles(work: (left: number, right: number) => Result): Apply {
  return ([left, right]) =>
    typeof left === 'number' && typeof right === 'number' ? work(left, right) : noSuchOverload;
}

/** Returns an operator that works on the nanoseconds of times and durations. */
function nanos(work: (left: bigint, right: bigint) => Result): Apply {
  return ([left, right]) =>
    hasNanos(left) && hasNanos(right) ? work(left.nanos, right.nanos) : noSuchOverload;
}

function hasNanos(value: Value | undefined): value is Duration | Timestamp {
  return value instanceof Duration || value instanceof Timestamp;
}

const arithmetic: readonly Declaration[] = [
  ['_+_(int, int): int', ints((left, right) => checkedInt(left + right))],
  ['_+_(uint, uint): uint', uints((left, right) => checkedUint(left + right))],
  ['_+_(double, double): double', doubles((left, right) => left + right)],
  ['_+_(string, string): string', addStrings, concatenation],
  ['_+_(bytes, bytes): bytes', addBytes, concatenation],
  ['_+_(list<A>, list<A>): list<A>', addLists, listConcatenation],
  ['_+_(duration, duration): duration', nanos((left, right) => checkedDuration(left + right))],
  ['_+_(duration, timestamp): timestamp', nanos((left, right) => checkedTimestamp(left + right))],
  ['_+_(timestamp, duration): timestamp', nanos((left, right) => checkedTimestamp(left + right))],
  ['_-_(int, int): int', ints((left, right) => checkedInt(left - right))],
  ['_-_(uint, uint): uint', uints((left, right) => checkedUint(left - right))],
  ['_-_(double, double): double', doubles((left, right) => left - right)],
  ['_-_(duration, duration): duration', nanos((left, right) => checkedDuration(left - right))],
  ['_-_(timestamp, duration): timestamp', nanos((left, right) => checkedTimestamp(left - right))],
  ['_-_(timestamp, timestamp): duration', nanos((left, right) => checkedDuration(left - right))],
  ['_*_(int, int): int', ints((left, right) => checkedInt(left * right))],
  ['_*_(uint, uint): uint', uints((left, right) => checkedUint(left * right))],
  ['_*_(double, double): double', doubles((left, right) => left * right)],
  ['_/_(int, int): int', ints((left, right) => (right === 0n ? byZero : checkedInt(left / right)))],
  ['_/_(uint, uint): uint', uints((left, right) => (right === 0n ? byZero : checkedUint(left / right)))],
  ['_/_(double, double): double', doubles((left, right) => left / right)],
  ['_%_(int, int): int', ints((left, right) => (right === 0n ? moduloByZero : checkedInt(left % right)))],
  [
    '_%_(uint, uint): uint',
    uints((left, right) => (right === 0n ? moduloByZero : checkedUint(left % right))),
  ],
  ['-_(int): int', ([value]) => (typeof value === 'bigint' ? checkedInt(-value) : noSuchOverload)],
  ['-_(double): double', ([value]) => (typeof value === 'number' ? -value : noSuchOverload)],
  ['!_(bool): bool', ([value]) => (typeof value === 'boolean' ? !value : noSuchOverload)],
];

function addStrings([left, right]: readonly Value[]): Result {
  return typeof left === 'string' && typeof right === 'string' ? left + right : noSuchOverload;
}

function addBytes([left, right]: readonly Value[], run: Run): Result {
  if (!(left instanceof Uint8Array && right instanceof Uint8Array)) return noSuchOverload;
  run.work((left.length + right.length) / 64);
  const sum = new Uint8Array(left.length + right.length);
  sum.set(left);
  sum.set(right, left.length);
  return sum;
}

function addLists([left, right]: readonly Value[], run: Run): Result {
  if (!(left instanceof List && right instanceof List)) return noSuchOverload;
  return isUnordered(left) ? merge(left, right, run) : concatenate(left, right, run);
}

/** Cost of equality: one for values of a library, whatever their size. */
const equality: Cost = {
  actual: (args, result) => (args[0] instanceof Opaque ? 1 : comparison.actual(args, result)),
  estimate: (args) => (args[0]?.isOpaque && args[1]?.isOpaque ? fixed(1) : comparison).estimate(args),
};

/** Pairs of types that have an order, with the cost of comparing them. */
const ordered: readonly (readonly [left: string, right: string, cost?: Cost])[] = [
  ['bool', 'bool'],
  ['int', 'int'],
  ['int', 'double'],
  ['int', 'uint'],
  ['uint', 'uint'],
  ['uint', 'double'],
  ['uint', 'int'],
  ['double', 'double'],
  ['double', 'int'],
  ['double', 'uint'],
  ['string', 'string', comparison],
  ['bytes', 'bytes', comparison],
  ['timestamp', 'timestamp'],
  ['duration', 'duration'],
];

const orders: Readonly<Record<string, (difference: number) => boolean>> = {
  '_<_': (difference) => difference < 0,
  '_<=_': (difference) => difference <= 0,
  '_>_': (difference) => difference > 0,
  '_>=_': (difference) => difference >= 0,
};

const relations: readonly Declaration[] = Object.entries(orders).flatMap(([name, holds]) =>
  ordered.map(([left, right, cost = fixed(1)]): Declaration => {
    const apply: Apply = ([one = null, other = null], run) => {
      const difference = compare(one, other, run);
      return difference === undefined ? noSuchOverload : holds(difference);
    };
    return [`${name}(${left}, ${right}): bool`, apply, cost];
  }),
);

function at([list, index]: readonly Value[]): Result {
  if (!(list instanceof List)) return noSuchOverload;
  const place = placeOf(index);
  if (place === undefined) return new Fault(`unsupported index type in list`);
  return place < 0 || place >= list.length ? new Fault(`index out of bounds: ${place}`) : list.at(place);
}

function placeOf(index: Value | undefined): number | undefined {
  if (typeof index === 'bigint') return Number(index);
  if (index instanceof Uint) return Number(index.value);
  return typeof index === 'number' && Number.isInteger(index) ? index : undefined;
}

function entry([map, key = null]: readonly Value[]): Result {
  if (!(map instanceof MapValue)) return noSuchOverload;
  const found = map.get(key);
  return found === undefined ? new Fault(`no such key: ${showKey(key)}`) : found;
}

/** Returns a key as upstream's message about a missing key shows it. */
function showKey(key: Value): string {
  if (key instanceof Uint) return String(key.value);
  return typeof key === 'object' ? 'null' : String(key);
}

/** Reads an element or an entry. */
export function elementAt(from: Value, key: Value): Result {
  if (from instanceof List) return at([from, key]);
  return from instanceof MapValue ? entry([from, key]) : noSuchOverload;
}

/** Reads an element or an entry, and returns an optional, which is empty if it is missing. */
export function optionalAt(args: readonly Value[]): Result {
  const [from, key = null] = args;
  if (from instanceof Optional) return from.value === undefined ? from : optionalAt([from.value, key]);
  const found = elementAt(from ?? null, key);
  if (found === noSuchOverload) return found;
  return new Optional(found instanceof Fault ? undefined : found);
}

function insert([map, key = null, value]: readonly Value[], run: Run): Result {
  if (!(map instanceof ValueMap)) return noSuchOverload;
  if (value !== undefined) return map.with(key, value, run);
  if (!(key instanceof MapValue)) return noSuchOverload;
  let result: ValueMap | Fault = map;
  for (const each of key.keys()) {
    if (result instanceof Fault) return result;
    result = result.with(each, key.get(each) ?? null, run);
  }
  return result;
}

const containers: readonly Declaration[] = [
  ['_[_](list<A>, int): A', at],
  ['_[_](map<A, B>, A): B', entry],
  ['_[_](optional<list<A>>, int): optional<A>', optionalAt],
  ['_[_](optional<map<A, B>>, A): optional<B>', optionalAt],
  ['_[?_](list<A>, int): optional<A>', optionalAt],
  ['_[?_](optional<list<A>>, int): optional<A>', optionalAt],
  ['_[?_](map<A, B>, A): optional<B>', optionalAt],
  ['_[?_](optional<map<A, B>>, A): optional<B>', optionalAt],
  ['@in(A, list<A>): bool', isIn, membership],
  ['@in(A, map<A, B>): bool', isIn],
  ['cel.@mapInsert(map<K, V>, K, V): map<K, V>', insert],
  ['cel.@mapInsert(map<K, V>, map<K, V>): map<K, V>', insert],
];

function isIn([value = null, container]: readonly Value[], run: Run): Result {
  const isContainer = container instanceof List || container instanceof MapValue;
  return isContainer ? contains(container, value, run) : noSuchOverload;
}

export const operators: readonly Declaration[] = [
  ...arithmetic,
  ['_==_(A, A): bool', ([left = null, right = null], run) => equal(left, right, run), equality],
  ['_!=_(A, A): bool', ([left = null, right = null], run) => !equal(left, right, run), comparison],
  ...relations,
  ...containers,
];
