/**
 * Functions of optional values. `or` and `orValue`, which may not need their argument, are in
 * evaluation/calls.ts.
 */
import { MadeObject } from '../values/made-object.ts';
import {
  Duration,
  Fault,
  List,
  MapValue,
  none,
  noSuchOverload,
  Optional,
  type Result,
  Timestamp,
  Uint,
  type Value,
} from '../values/value.ts';
import type { Declaration } from './overload.ts';

const missing = new Fault('optional.none() dereference');

function dereference([optional]: readonly Value[]): Result {
  if (!(optional instanceof Optional)) return noSuchOverload;
  return optional.value === undefined ? missing : optional.value;
}

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === '') return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Uint8Array || value instanceof List) return value.length === 0;
  if (value instanceof MapValue || value instanceof MadeObject) return value.size === 0;
  if (value instanceof Duration || value instanceof Timestamp) return value.nanos === 0n;
  return value instanceof Optional && value.value === undefined;
}

export const optionals: readonly Declaration[] = [
  ['optional.of(V): optional<V>', ([value]) => new Optional(value)],
  [
    'optional.ofNonZeroValue(V): optional<V>',
    ([value = null]) => (isZero(value) ? none : new Optional(value)),
  ],
  ['optional.none(): optional<V>', () => none],
  ['optional<V>.value(): V', dereference],
  [
    'optional<V>.hasValue(): bool',
    ([optional]) => (optional instanceof Optional ? optional.value !== undefined : noSuchOverload),
  ],
  ['optional<V>.or(optional<V>): optional<V>', () => noSuchOverload],
  ['optional<V>.orValue(V): V', () => noSuchOverload],
];
