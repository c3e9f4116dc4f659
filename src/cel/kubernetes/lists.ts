/** Kubernetes' functions of lists, and those of sets. */
import { argument, deepTraversal, sizeOf } from '../cost/costs.ts';
import { one, plus, scaled, times } from '../cost/ranges.ts';
import type { Run } from '../evaluation/run.ts';
import { checkedDuration, checkedInt, checkedUint } from '../functions/operators.ts';
import type { Cost, Declaration } from '../functions/overload.ts';
import { compare, contains, equal } from '../values/equal.ts';
import { Duration, Fault, List, noSuchOverload, type Result, Uint, type Value } from '../values/value.ts';

const comparable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

function isSorted([list]: readonly Value[], run: Run): Result {
  if (!(list instanceof List)) return noSuchOverload;
  run.work(list.length / 8);
  for (let at = 1; at < list.length; at++) {
    const difference = compare(list.at(at - 1), list.at(at), run);
    if (difference === undefined) return noSuchOverload;
    if (difference > 0) return false;
  }
  return true;
}

function add(left: Value, right: Value): Result {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left + right);
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  if (left instanceof Uint && right instanceof Uint) return checkedUint(left.value + right.value);
  if (left instanceof Duration && right instanceof Duration) return checkedDuration(left.nanos + right.nanos);
  return noSuchOverload;
}

function sum(zero: Value): Declaration[1] {
  return ([list], run) => {
    if (!(list instanceof List)) return noSuchOverload;
    run.work(list.length / 8);
    let total: Result = zero;
    for (let at = 0; at < list.length && !(total instanceof Fault); at++) total = add(total, list.at(at));
    return total;
  };
}

function extreme(name: 'min' | 'max'): Declaration[1] {
  const sign = name === 'min' ? 1 : -1;
  return ([list], run) => {
    if (!(list instanceof List)) return noSuchOverload;
    run.work(list.length / 8);
    return list.length === 0 ? new Fault(`${name} called on empty list`) : extremeOf(list, sign, run);
  };
}

/** Returns the first of the smallest elements; with a sign of -1, of the largest. */
function extremeOf(list: List, sign: number, run: Run): Result {
  let best = list.at(0);
  for (let at = 1; at < list.length; at++) {
    const difference = compare(best, list.at(at), run);
    if (difference === undefined) return noSuchOverload;
    if (difference * sign > 0) best = list.at(at);
  }
  return best;
}

function indexOf([list, wanted = null]: readonly Value[], run: Run): Result {
  if (!(list instanceof List)) return noSuchOverload;
  run.work(list.length / 8);
  for (let at = 0; at < list.length; at++) if (equal(list.at(at), wanted, run)) return BigInt(at);
  return -1n;
}

function lastIndexOf([list, wanted = null]: readonly Value[], run: Run): Result {
  if (!(list instanceof List)) return noSuchOverload;
  run.work(list.length / 8);
  for (let at = list.length - 1; at >= 0; at--) if (equal(list.at(at), wanted, run)) return BigInt(at);
  return -1n;
}

const zeros: readonly (readonly [string, Value])[] = [
  ['int', 0n],
  ['uint', new Uint(0n)],
  ['double', 0],
  ['duration', new Duration(0n)],
];

/** Compares every element of one list with every one of the other, `factor` times. */
function pairs(factor: number): Cost {
  return {
    actual: (args) => 1 + sizeOf(args[0]) * sizeOf(args[1]) * factor,
    estimate: (args) => ({
      cost: plus(one, scaled(times(argument(args, 0).size, argument(args, 1).size), factor)),
    }),
  };
}

function containsAll(list: List, others: List, run: Run): boolean {
  for (let at = 0; at < others.length; at++) if (!contains(list, others.at(at), run)) return false;
  return true;
}

function sets(holds: (left: List, right: List, run: Run) => boolean): Declaration[1] {
  return ([left, right], run) =>
    left instanceof List && right instanceof List ? holds(left, right, run) : noSuchOverload;
}

function intersect(left: List, right: List, run: Run): boolean {
  for (let at = 0; at < left.length; at++) if (contains(right, left.at(at), run)) return true;
  return false;
}

export const lists: readonly Declaration[] = [
  ...comparable.flatMap((type): Declaration[] => [
    [`list<${type}>.isSorted(): bool`, isSorted, deepTraversal],
    [`list<${type}>.min(): ${type}`, extreme('min'), deepTraversal],
    [`list<${type}>.max(): ${type}`, extreme('max'), deepTraversal],
  ]),
  ...zeros.map(([type, zero]): Declaration => [`list<${type}>.sum(): ${type}`, sum(zero), deepTraversal]),
  ['list<A>.indexOf(A): int', indexOf, deepTraversal],
  ['list<A>.lastIndexOf(A): int', lastIndexOf, deepTraversal],
  ['sets.contains(list<T>, list<T>): bool', sets(containsAll), pairs(1)],
  [
    'sets.equivalent(list<T>, list<T>): bool',
    sets((left, right, run) => containsAll(left, right, run) && containsAll(right, left, run)),
    pairs(2),
  ],
  ['sets.intersects(list<T>, list<T>): bool', sets(intersect), pairs(1)],
];
