/** Values of CEL as JSON, in the mapping of protobuf's JSON (cel-go, ConvertToNative of structpb.Value). */
import { setOwn } from '../../apimachinery/equality.ts';
import { CelError } from '../error.ts';
import { showDuration, showTimestamp } from './time.ts';
import {
  Duration,
  List,
  MapValue,
  ObjectValue,
  type Opaque,
  Optional,
  Timestamp,
  typeNameOf,
  Uint,
  type Value,
} from './value.ts';

/** Bounds for the JSON of a value: an expression can name one large value many times. */
export interface JsonLimits {
  /** Maximum number of objects, lists and scalars. */
  readonly maxValues: number;
  /** Maximum length of all texts and names together, in UTF-16 code units. */
  readonly maxText: number;
  /** Maximum number of levels. */
  readonly maxDepth: number;
}

/** Returns JSON that shares nothing with the value. Throws a CelError for a value that JSON cannot have. */
export function toJson(value: Value, limits: JsonLimits): unknown {
  return new JsonWriter(limits).write(value, 0);
}

class JsonWriter {
  readonly #limits: JsonLimits;
  #values = 0;
  #text = 0;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  write(value: Value, depth: number): unknown {
    const { maxValues, maxDepth } = this.#limits;
    if (++this.#values > maxValues) throw new CelError(`the value has more than ${maxValues} parts`);
    if (depth > maxDepth) throw new CelError(`the value is nested deeper than ${maxDepth} levels`);
    if (typeof value === 'string') return this.#counted(value);
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'bigint') return this.#integer(value);
    if (typeof value === 'number') return finite(value);
    return this.#composite(value, depth);
  }

  #composite(value: Exclude<Value, null | boolean | bigint | number | string>, depth: number): unknown {
    if (value instanceof List)
      return Array.from({ length: value.length }, (_, at) => this.write(value.at(at), depth + 1));
    if (value instanceof MapValue) return this.#object(entriesOf(value), depth);
    if (value instanceof ObjectValue) return this.#object(value.entries(), depth);
    if (value instanceof Optional) return value.value === undefined ? null : this.write(value.value, depth);
    return this.#small(value);
  }

  #small(value: Uint | Uint8Array | Opaque): number | string {
    if (value instanceof Uint) return this.#integer(value.value);
    if (value instanceof Uint8Array) return this.#counted(value.toBase64());
    if (value instanceof Timestamp) return showTimestamp(value);
    if (value instanceof Duration) return showDuration(value);
    throw new CelError(`a value of type ${typeNameOf(value)} cannot be represented in JSON`);
  }

  #object(entries: Iterable<readonly [string, Value]>, depth: number): object {
    const object: Record<string, unknown> = {};
    for (const [name, value] of entries) setOwn(object, this.#counted(name), this.write(value, depth + 1));
    return object;
  }

  /** Returns a number; a text for an integer beyond 53 bits, which a number would round. */
  #integer(value: bigint): number | string {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }

  #counted(text: string): string {
    const { maxText } = this.#limits;
    this.#text += text.length;
    if (this.#text > maxText) throw new CelError(`the value has more than ${maxText} characters`);
    return text;
  }
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new CelError(`${value} cannot be represented in JSON`);
}

function* entriesOf(map: MapValue): Iterable<readonly [string, Value]> {
  for (const key of map.keys()) {
    if (typeof key !== 'string')
      throw new CelError(`map key ${String(key)} is of type ${typeNameOf(key)}, not string`);
    yield [key, map.get(key) ?? null];
  }
}
