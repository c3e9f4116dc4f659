/**
 * Protobuf's wire format, read from bytes that a client sent. Every length is checked before it is used, and
 * only requested values are copied. Numbers follow Go's generated decoders: a number too large for its type
 * is truncated.
 */
import { maxValues, tooManyValues } from '../value-limit.ts';

/**
 * Thrown for bytes that are not the expected message; the message is one line and names the field when it is
 * known.
 */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
  readonly #reason: string;
  readonly #path: readonly string[];

  /** `path` goes from the outermost field inwards; it is empty when the message as a whole is wrong. */
  constructor(reason: string, path: readonly string[] = []) {
    super(path.length > 0 ? `${path.join('.')}: ${reason}` : reason);
    this.#reason = reason;
    this.#path = path;
  }

  /** Returns the same error for a field inside `field`. */
  within(field: string): ProtobufError {
    return new ProtobufError(this.#reason, [field, ...this.#path]);
  }
}

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

export interface Tag {
  readonly field: number;
  /** One of `wireTypes`, or the undefined types 6 and 7. */
  readonly wire: number;
}

/** Reads the value of one field, which has the wire type `wire`. */
export type FieldReader = (reader: WireReader, wire: number) => void;

/** Reads a message: passes each field to the reader with its number and skips the others. */
export function eachField(reader: WireReader, readers: Readonly<Record<number, FieldReader>>): void {
  while (!reader.done) {
    const { field, wire } = reader.tag();
    const read = readers[field];
    if (read) read(reader, wire);
    else reader.skip(wire);
  }
}

const maxFieldNumber = 2 ** 29 - 1;
/** Maximum length of a varint that a JavaScript number represents exactly. */
const exactBytes = 7;
const maxVarintBytes = 10;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads values. The wire type of a value must be that of the requested type. Every field and every packed
 * number counts as a value; too many of them, in this message and those inside it, are a 413.
 */
export class WireReader {
  readonly #bytes: Uint8Array;
  readonly #count: { values: number };
  #at = 0;

  constructor(bytes: Uint8Array, count = { values: 0 }) {
    this.#bytes = bytes;
    this.#count = count;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Adds to the number of values that were read; throws a 413 above the maximum. */
  countValues(values: number): void {
    this.#count.values += values;
    if (this.#count.values > maxValues) throw tooManyValues();
  }

  /** Returns a reader for the message inside a field's bytes. */
  within(wire: number): WireReader {
    return new WireReader(this.bytes(wire), this.#count);
  }

  tag(): Tag {
    this.countValues(1);
    const value = this.#varint();
    const field = typeof value === 'number' ? Math.floor(value / 8) : 0;
    if (typeof value !== 'number' || field < 1 || field > maxFieldNumber)
      throw new ProtobufError(`illegal tag ${value}`);
    return { field, wire: value % 8 };
  }

  /** Reads an integer; not exact beyond Number.MAX_SAFE_INTEGER. */
  int64(wire: number): number {
    expectWire(wire, wireTypes.varint);
    const value = this.#varint();
    return typeof value === 'number' ? value : Number(BigInt.asIntN(64, value));
  }

  /** Reads an integer exactly, unlike `int64`: for ids, in which every bit counts. */
  uint64(wire: number): bigint {
    expectWire(wire, wireTypes.varint);
    return BigInt(this.#varint());
  }

  int32(wire: number): number {
    expectWire(wire, wireTypes.varint);
    const value = this.#varint();
    return typeof value === 'number' ? value | 0 : Number(BigInt.asIntN(32, value));
  }

  bool(wire: number): boolean {
    expectWire(wire, wireTypes.varint);
    return Number(this.#varint()) !== 0;
  }

  double(wire: number): number {
    expectWire(wire, wireTypes.fixed64);
    const bytes = this.#take(8);
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
  }

  /** Returns a view of the bytes, not a copy. */
  bytes(wire: number): Uint8Array {
    expectWire(wire, wireTypes.bytes);
    return this.#take(Number(this.#varint()));
  }

  string(wire: number): string {
    const bytes = this.bytes(wire);
    try {
      return utf8.decode(bytes);
    } catch {
      throw new ProtobufError('the text is not valid UTF-8');
    }
  }

  /** Skips a field's value; a group is skipped with everything in it. */
  skip(wire: number): void {
    let depth = this.#skipOne(wire);
    if (depth < 0) throw new ProtobufError('a group ends that was not started');
    while (depth > 0) depth += this.#skipOne(this.tag().wire);
  }

  /** Skips one value and returns the change of the depth of open groups. */
  #skipOne(wire: number): number {
    switch (wire) {
      case wireTypes.varint:
        this.#varint();
        return 0;
      case wireTypes.fixed64:
        this.#take(8);
        return 0;
      case wireTypes.bytes:
        this.bytes(wire);
        return 0;
      case wireTypes.fixed32:
        this.#take(4);
        return 0;
      case wireTypes.startGroup:
        return 1;
      case wireTypes.endGroup:
        return -1;
      default:
        throw new ProtobufError(`illegal wire type ${wire}`);
    }
  }

  /** Reads an unsigned 64-bit integer. */
  #varint(): number | bigint {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < exactBytes; count++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
    return this.#longVarint(BigInt(value));
  }

  #longVarint(start: bigint): bigint {
    let value = start;
    for (let count = exactBytes; count < maxVarintBytes; count++) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError('an integer is longer than 64 bits');
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw endsTooEarly();
    this.#at++;
    return byte;
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw endsTooEarly();
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

const endsTooEarly = () => new ProtobufError('it ends too early');

function expectWire(wire: number, wanted: number): void {
  if (wire !== wanted) throw new ProtobufError(`wire type ${wire} where ${wanted} is expected`);
}
