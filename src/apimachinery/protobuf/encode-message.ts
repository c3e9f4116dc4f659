/**
 * Encodes a JSON value as the message from which a Go client can read it: the opposite of decode-message.ts.
 * Values that are absent or null in JSON are omitted; every other field is written, zero or not, since it may
 * be a pointer in Go. Fields without a number are skipped; Kubernetes' own table has a number for each field
 * that existed in 1.32. The functions that write a type are built once, so that no value needs a lookup in
 * the table.
 */
import { isRecord, type JsonObject } from '../equality.ts';
import type { Scalar } from '../field-types.ts';
import type { Alternative, MessageField, MessageType, ValueType } from './message-types.ts';
import { ProtobufError } from './reader.ts';
import type { WireWriter } from './writer.ts';

/**
 * Encodes a value. Throws ProtobufError where a value is not of its field's type, which never occurs in a
 * stored object.
 */
export function encodeMessage(writer: WireWriter, value: JsonObject, type: MessageType): void {
  messageWriter(type)(writer, value);
}

type WriteMessage = (writer: WireWriter, value: JsonObject) => void;
type WriteField = (writer: WireWriter, number: number, value: unknown) => void;

const messageWriters = new WeakMap<MessageType, WriteMessage>();

function messageWriter(type: MessageType): WriteMessage {
  const known = messageWriters.get(type);
  if (known) return known;
  // Created on first use, since types may contain themselves.
  let fields: readonly WriteMessage[] | undefined;
  const write: WriteMessage = (writer, value) => {
    fields ??= Array.from(type.fields, ([number, field]) => memberWriter(number, field));
    for (const writeField of fields) writeField(writer, value);
  };
  messageWriters.set(type, write);
  return write;
}

/** Returns a function that writes the object's value of this field. */
function memberWriter(number: number, field: MessageField): WriteMessage {
  if (field.kind === 'part') return partWriter(number, field.message);
  const { name } = field;
  const write = fieldWriter(field);
  return (writer, value) => {
    const member = value[name];
    if (member === undefined || member === null) return;
    try {
      write(writer, number, member);
    } catch (error) {
      throw error instanceof ProtobufError ? error.within(name) : error;
    }
  };
}

/** Returns a function that writes a part and omits it when it is empty; readers see no difference. */
function partWriter(number: number, part: MessageType): WriteMessage {
  const write = messageWriter(part);
  return (writer, value) => {
    if (!hasAny(value, part)) return;
    const start = writer.begin(number);
    write(writer, value);
    writer.end(start);
  };
}

function hasAny(value: JsonObject, part: MessageType): boolean {
  for (const field of part.fields.values()) {
    if (field.kind === 'part' ? hasAny(value, field.message) : (value[field.name] ?? null) !== null)
      return true;
  }
  return false;
}

function fieldWriter(field: Exclude<MessageField, { kind: 'part' }>): WriteField {
  const write = valueWriter(field.value);
  if (field.kind === 'list') return itemsWriter(write);
  return field.kind === 'map' ? entriesWriter(write) : write;
}

const itemsWriter =
  (write: WriteField): WriteField =>
  (writer, number, list) => {
    if (!Array.isArray(list)) throw new ProtobufError('a list is expected');
    for (const item of list) write(writer, number, item);
  };

/** Writes the entries of a map sorted by key, as Go does: the same object gives the same bytes. */
const entriesWriter =
  (write: WriteField): WriteField =>
  (writer, number, map) => {
    if (!isRecord(map)) throw new ProtobufError('an object is expected');
    for (const key of Object.keys(map).sort()) {
      const start = writer.begin(number);
      writer.string(1, key);
      write(writer, 2, map[key]);
      writer.end(start);
    }
  };

function valueWriter(type: ValueType): WriteField {
  switch (type.kind) {
    case 'scalar': {
      const write = scalarWriters[type.scalar];
      return (writer, number, value) => {
        // A null in a list or a map is the zero value.
        if (value === null) writer.length(number, 0);
        else write(writer, number, value);
      };
    }
    case 'message': {
      const write = messageWriter(type.message);
      return (writer, number, value) => {
        if (value !== null && !isRecord(value)) throw new ProtobufError('an object is expected');
        const start = writer.begin(number);
        write(writer, value ?? {});
        writer.end(start);
      };
    }
    case 'items': {
      const write = itemsWriter(valueWriter(type.items));
      return (writer, number, value) => {
        const start = writer.begin(number);
        write(writer, 1, value ?? []);
        writer.end(start);
      };
    }
    case 'either':
      return eitherWriter(type);
    case 'raw':
      return (writer, number, value) => {
        const start = writer.begin(number);
        writer.string(1, JSON.stringify(value));
        writer.end(start);
      };
  }
}

/** Writes the alternative whose type the value has: a list, an object, or a scalar. */
function eitherWriter({ first, second }: Extract<ValueType, { kind: 'either' }>): WriteField {
  const writers = [first, second].map(({ value, isList }) =>
    isList ? itemsWriter(valueWriter(value)) : valueWriter(value),
  );
  const fits = ({ value, isList }: Alternative, json: unknown) =>
    isList ? Array.isArray(json) : isRecord(json) === (value.kind === 'message') && !Array.isArray(json);
  return (writer, number, value) => {
    const at = [first, second].findIndex((alternative) => fits(alternative, value));
    const write = writers[at];
    if (!write) throw new ProtobufError('the value is of neither type');
    const start = writer.begin(number);
    write(writer, at + 1, value);
    writer.end(start);
  };
}

const scalarWriters: Readonly<Record<Scalar, WriteField>> = {
  string: (writer, number, value) => writer.string(number, textOf(value)),
  bool: (writer, number, value) => writer.varint(number, value === true ? 1 : 0),
  int32: (writer, number, value) => writer.varint(number, integerOf(value)),
  int64: (writer, number, value) => writer.varint(number, integerOf(value)),
  double: (writer, number, value) => writer.double(number, Number(value)),
  bytes: (writer, number, value) => writer.bytes(number, Buffer.from(textOf(value), 'base64')),
  time: (writer, number, value) => writeTime(writer, number, textOf(value), 0),
  microTime: (writer, number, value) => writeTime(writer, number, textOf(value), microOf(textOf(value))),
  quantity: (writer, number, value) => {
    const start = writer.begin(number);
    writer.string(1, String(value));
    writer.end(start);
  },
  intOrString: (writer, number, value) => {
    const start = writer.begin(number);
    if (typeof value === 'string') {
      writer.varint(1, 1);
      writer.string(3, value);
    } else writer.varint(2, integerOf(value));
    writer.end(start);
  },
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

/** Writes seconds and nanoseconds since 1970 (metav1.Timestamp). */
function writeTime(writer: WireWriter, number: number, text: string, microseconds: number): void {
  // Earlier versions stored some empty times; Go reads an absent one as the zero time.
  if (text === '') return;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new ProtobufError('a time is expected');
  const start = writer.begin(number);
  writer.varint(1, Math.floor(ms / 1000));
  if (microseconds > 0) writer.varint(2, microseconds * 1000);
  writer.end(start);
}

/** Returns the microseconds of an RFC 3339 time; Date keeps only three digits. */
const microOf = (text: string): number => {
  const digits = /\.(\d+)/.exec(text)?.[1] ?? '';
  return Number(digits.slice(0, 6).padEnd(6, '0'));
};
