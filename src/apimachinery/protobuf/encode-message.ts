/**
 * A JSON value as the message a Go client reads it back from: the opposite of decode-message.ts. What JSON leaves out or
 * calls null is left out, and every field that it has is written, zero or not, since it may stand behind a pointer. Fields
 * without a number are passed over; Kubernetes' own table has one for each that it had in 1.32.
 */
import { isRecord, type JsonObject } from '../equality.ts';
import type { Scalar } from '../field-types.ts';
import type { MessageType, ValueType } from './message-types.ts';
import { ProtobufError } from './reader.ts';
import type { WireWriter } from './writer.ts';

/** Throws ProtobufError where a value is not of its field's type, which a stored object never is. */
export function encodeMessage(writer: WireWriter, value: JsonObject, type: MessageType): void {
  for (const [number, field] of type.fields) {
    if (field.kind === 'part') {
      if (hasAny(value, field.message))
        writer.message(number, () => encodeMessage(writer, value, field.message));
      continue;
    }
    const member = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
    if (member === undefined || member === null) continue;
    try {
      if (field.kind === 'list') writeItems(writer, number, member, field.value);
      else if (field.kind === 'map') writeEntries(writer, number, member, field.value);
      else writeValue(writer, number, member, field.value);
    } catch (error) {
      throw error instanceof ProtobufError ? error.within(field.name) : error;
    }
  }
}

/** A part that says nothing is left out; to a reader that is the same. */
const hasAny = (value: JsonObject, part: MessageType): boolean =>
  part.fields
    .values()
    .some((field) =>
      field.kind === 'part' ? hasAny(value, field.message) : (value[field.name] ?? null) !== null,
    );

function writeItems(writer: WireWriter, number: number, list: unknown, type: ValueType): void {
  if (!Array.isArray(list)) throw new ProtobufError('a list is expected');
  for (const item of list) writeValue(writer, number, item, type);
}

/** In the order of their keys, as Go writes maps: the same object is the same bytes. */
function writeEntries(writer: WireWriter, number: number, map: unknown, type: ValueType): void {
  if (!isRecord(map)) throw new ProtobufError('an object is expected');
  for (const key of Object.keys(map).sort())
    writer.message(number, () => {
      writer.string(1, key);
      writeValue(writer, 2, map[key], type);
    });
}

function writeValue(writer: WireWriter, number: number, value: unknown, type: ValueType): void {
  switch (type.kind) {
    case 'scalar':
      // A null in a list or a map is its zero.
      if (value === null) writer.message(number, () => {});
      else scalarWriters[type.scalar](writer, number, value);
      return;
    case 'message':
      if (value !== null && !isRecord(value)) throw new ProtobufError('an object is expected');
      writer.message(number, () => encodeMessage(writer, value ?? {}, type.message));
      return;
    case 'items':
      writer.message(number, () => writeItems(writer, 1, value ?? [], type.items));
      return;
    case 'raw':
      writer.message(number, () => writer.string(1, JSON.stringify(value)));
      return;
  }
}

type ScalarWriter = (writer: WireWriter, number: number, value: unknown) => void;

const scalarWriters: Readonly<Record<Scalar, ScalarWriter>> = {
  string: (writer, number, value) => writer.string(number, textOf(value)),
  bool: (writer, number, value) => writer.varint(number, value === true ? 1 : 0),
  int32: (writer, number, value) => writer.varint(number, integerOf(value)),
  int64: (writer, number, value) => writer.varint(number, integerOf(value)),
  double: (writer, number, value) => writer.double(number, Number(value)),
  bytes: (writer, number, value) => writer.bytes(number, Buffer.from(textOf(value), 'base64')),
  time: (writer, number, value) => writeTime(writer, number, textOf(value), 0),
  microTime: (writer, number, value) => writeTime(writer, number, textOf(value), microOf(textOf(value))),
  quantity: (writer, number, value) => writer.message(number, () => writer.string(1, String(value))),
  intOrString: (writer, number, value) =>
    writer.message(number, () => {
      if (typeof value === 'string') {
        writer.varint(1, 1);
        writer.string(3, value);
      } else writer.varint(2, integerOf(value));
    }),
};

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new ProtobufError('a string is expected');
  return value;
}

function integerOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw new ProtobufError('an integer is expected');
  return value;
}

/** Seconds and nanoseconds since 1970 (metav1.Timestamp). */
function writeTime(writer: WireWriter, number: number, text: string, microseconds: number): void {
  // Earlier versions stored some such; to Go it is the zero time.
  if (text === '') return;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new ProtobufError('a time is expected');
  writer.message(number, () => {
    writer.varint(1, Math.floor(ms / 1000));
    if (microseconds > 0) writer.varint(2, microseconds * 1000);
  });
}

/** The fraction of a second of an RFC 3339 time; Date keeps only three of its digits. */
const microOf = (text: string): number => {
  const digits = /\.(\d+)/.exec(text)?.[1] ?? '';
  return Number(digits.slice(0, 6).padEnd(6, '0'));
};
