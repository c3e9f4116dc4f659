/** Protobuf's wire format, written: the opposite of reader.ts. */
import { wireTypes } from './reader.ts';

const firstBytes = 1024;
const maxVarintBytes = 10;

/** Fields are written one after the other into one buffer, which grows. */
export class WireWriter {
  #buffer = Buffer.allocUnsafeSlow(firstBytes);
  #at = 0;

  /** What was written so far, without what is left of the buffer. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  /** An integer; a negative one takes ten bytes, as in Go, whatever its type. */
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
    const length = Buffer.byteLength(text);
    this.length(field, length);
    this.#reserve(length);
    this.#at += this.#buffer.write(text, this.#at);
  }

  /** Of what was written so far. */
  get size(): number {
    return this.#at;
  }

  /** The tag and length of a field whose bytes the caller adds himself. */
  length(field: number, length: number): void {
    this.#tag(field, wireTypes.bytes);
    this.#varint(length);
  }

  bytes(field: number, bytes: Uint8Array): void {
    this.length(field, bytes.length);
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** A message whose fields `write` writes with this same writer; its length is put before it afterwards. */
  message(field: number, write: () => void): void {
    this.#tag(field, wireTypes.bytes);
    const start = this.#at;
    write();
    const length = this.#at - start;
    const shift = varintLength(length);
    this.#reserve(shift);
    this.#buffer.copyWithin(start + shift, start, this.#at);
    this.#at = start;
    this.#varint(length);
    this.#at += length;
  }

  #tag(field: number, wire: number): void {
    this.#varint(field * 8 + wire);
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

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}
