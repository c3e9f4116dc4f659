/** Writes protobuf's wire format: the opposite of reader.ts. */
import { wireTypes } from './reader.ts';

const firstBytes = 1024;
const maxVarintBytes = 10;
/** Up to this length, texts are written character by character; for longer ones a call of Node is faster. */
const shortText = 48;

/** Writes fields one after the other into one growing buffer. */
export class WireWriter {
  #buffer: Buffer;
  #at = 0;

  /** `bytes` is an estimate of the total length. */
  constructor(bytes = firstBytes) {
    this.#buffer = Buffer.allocUnsafeSlow(bytes + maxVarintBytes);
  }

  /** Returns the written bytes. They share the writer's buffer, which later writes change. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  /** Starts again in the same buffer. */
  clear(): void {
    this.#at = 0;
  }

  /** Writes an integer; a negative one takes ten bytes, as in Go, whatever its type. */
  varint(field: number, value: number | bigint): void {
    this.#tag(field, wireTypes.varint);
    this.#varint(value);
  }

  double(field: number, value: number): void {
    this.#tag(field, wireTypes.fixed64);
    this.#reserve(8);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  string(field: number, text: string): void {
    if (text.length <= shortText && this.#shortAscii(field, text)) return;
    const length = Buffer.byteLength(text);
    this.length(field, length);
    this.#reserve(length);
    this.#at += this.#buffer.write(text, this.#at);
  }

  /** Number of bytes written so far. */
  get size(): number {
    return this.#at;
  }

  /** Writes the tag and length of a field whose bytes the caller appends. */
  length(field: number, length: number): void {
    this.#tag(field, wireTypes.bytes);
    this.#varint(length);
  }

  bytes(field: number, bytes: Uint8Array): void {
    this.length(field, bytes.length);
    this.append(bytes);
  }

  /** Appends bytes that are encoded already, such as several fields. */
  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Begins a message, whose fields are written next. Returns its start, for `end`. */
  begin(field: number): number {
    this.#tag(field, wireTypes.bytes);
    this.#reserve(1);
    return ++this.#at;
  }

  /**
   * Inserts the length before the message that begins at `start`. One byte is reserved for it; a longer
   * length moves the message.
   */
  end(start: number): void {
    const length = this.#at - start;
    if (length >= 0x80) {
      const more = varintLength(length) - 1;
      this.#reserve(more);
      this.#buffer.copyWithin(start + more, start, this.#at);
    }
    this.#at = start - 1;
    this.#shortVarint(length);
    this.#at += length;
  }

  /** Writes a short ASCII text; returns false and writes nothing for other texts. */
  #shortAscii(field: number, text: string): boolean {
    const before = this.#at;
    const { length } = text;
    this.#tag(field, wireTypes.bytes);
    this.#reserve(length + 1);
    const buffer = this.#buffer;
    let at = this.#at;
    buffer[at++] = length;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code >= 0x80) {
        this.#at = before;
        return false;
      }
      buffer[at++] = code;
    }
    this.#at = at;
    return true;
  }

  #tag(field: number, wire: number): void {
    this.#reserve(maxVarintBytes);
    this.#shortVarint(field * 8 + wire);
  }

  #varint(value: number | bigint): void {
    this.#reserve(maxVarintBytes);
    if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)) this.#shortVarint(value);
    else this.#longVarint(BigInt.asUintN(64, BigInt(value)));
  }

  #shortVarint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#at++] = rest;
  }

  #longVarint(value: bigint): void {
    let rest = value;
    while (rest >= 0x80n) {
      this.#buffer[this.#at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#buffer[this.#at++] = Number(rest);
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}

export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}
