/** Lists and maps that an expression makes. */
import type { Run } from '../evaluation/run.ts';
import { Fault, List, MapValue, Uint, type Value } from './value.ts';

/**
 * A list whose elements may be shared with longer lists: adding to the newest of them appends in place, so
 * that a fold which adds one element at each step is linear.
 */
export class ValueList extends List {
  readonly length: number;
  private readonly elements: Value[];

  constructor(elements: Value[], length = elements.length) {
    super();
    this.elements = elements;
    this.length = length;
  }

  at(index: number): Value {
    return this.elements[index] ?? null;
  }

  /** Returns this list with the elements of the other one behind it. */
  with(other: List, run: Run): ValueList {
    const isNewest = this.elements.length === this.length;
    run.work(isNewest ? other.length : this.length + other.length);
    const elements = isNewest ? this.elements : this.elements.slice(0, this.length);
    const { length } = other;
    for (let at = 0; at < length; at++) elements.push(other.at(at));
    return new ValueList(elements);
  }
}

export function concatenate(left: List, right: List, run: Run): List {
  if (right.length === 0) return left;
  if (left.length === 0) return right;
  if (left instanceof ValueList) return left.with(right, run);
  run.work(left.length);
  return new ValueList(elementsOf(left)).with(right, run);
}

export function elementsOf(list: List): Value[] {
  return Array.from({ length: list.length }, (_, at) => list.at(at));
}

/** Key of a map as a JavaScript value: numbers with one value are one key, whatever their type. */
export type Key = string | boolean | bigint;

/** Returns undefined for values that are no keys, such as a double with a fraction. */
export function keyOf(value: Value): Key | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

interface Entry {
  readonly key: Value;
  readonly value: Value;
}

/** A map whose entries may be shared with larger maps, like those of ValueList. */
export class ValueMap extends MapValue {
  readonly size: number;
  private readonly entries: Map<Key, Entry & { readonly order: number }>;

  private constructor(entries: Map<Key, Entry & { readonly order: number }>) {
    super();
    this.entries = entries;
    this.size = entries.size;
  }

  static readonly empty = new ValueMap(new Map());

  static of(entries: Iterable<readonly [Value, Value]>): ValueMap | Fault {
    const own = new Map<Key, Entry & { readonly order: number }>();
    for (const [key, value] of entries) {
      const at = isKey(key) ? keyOf(key) : undefined;
      if (at === undefined) return new Fault('unsupported key type');
      if (own.has(at)) return new Fault(`Failed with repeated key: ${String(at)}`);
      own.set(at, { key, value, order: own.size });
    }
    return new ValueMap(own);
  }

  *keys(): Iterable<Value> {
    for (const { key, order } of this.entries.values()) {
      if (order >= this.size) return;
      yield key;
    }
  }

  get(key: Value): Value | undefined {
    const at = keyOf(key);
    const found = at === undefined ? undefined : this.entries.get(at);
    return found !== undefined && found.order < this.size ? found.value : undefined;
  }

  /** Returns this map with one more entry. */
  with(key: Value, value: Value, run: Run): ValueMap | Fault {
    const at = isKey(key) ? keyOf(key) : undefined;
    if (at === undefined) return new Fault('unsupported key type');
    if (this.get(key) !== undefined) return new Fault(`insert failed: key ${String(at)} already exists`);
    const isNewest = this.entries.size === this.size && this !== ValueMap.empty;
    run.work(isNewest ? 1 : this.size + 1);
    const entries = isNewest ? this.entries : new Map([...this.entries].slice(0, this.size));
    entries.set(at, { key, value, order: entries.size });
    return new ValueMap(entries);
  }
}

function isKey(value: Value): boolean {
  return typeof value !== 'number';
}
