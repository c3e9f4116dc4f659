/**
 * Decodes a message into the JSON value that its sender meant. Go writes every field that is not a pointer,
 * even if it is zero; so a zero that JSON omits is omitted here, too, and a zero behind a pointer is kept.
 * Fields without a number in the table are skipped, as in Go's decoder. The result is then decoded like any
 * JSON (decode-fields.ts).
 */
import { isRecord, type JsonObject, setOwn } from '../equality.ts';
import type { Scalar } from '../field-types.ts';
import { parseJson } from '../json-decode.ts';
import { measureJson, TextError } from '../value-limit.ts';
import type { Alternative, MessageField, MessageType, ValueType } from './message-types.ts';
import { eachField, type FieldReader, ProtobufError, WireReader, wireTypes } from './reader.ts';
import { readIntOrString, readQuantity, readTime } from './well-known.ts';

/** Maximum depth of messages; protobuf's own decoders have the same limit. */
const maxDepth = 100;

/** Decodes a message. Throws ProtobufError, and a 413 for too many values. */
export function decodeMessage(bytes: Uint8Array, type: MessageType): JsonObject {
  const result: JsonObject = {};
  decodeInto(result, new WireReader(bytes), type, 0);
  return result;
}

function decodeInto(target: JsonObject, reader: WireReader, type: MessageType, depth: number): void {
  if (depth >= maxDepth) throw new ProtobufError(`the message is nested deeper than ${maxDepth} levels`);
  while (!reader.done) {
    const { field: number, wire } = reader.tag();
    const field = type.fields.get(number);
    if (!field) reader.skip(wire);
    else if (field.kind === 'part') decodeInto(target, reader.within(wire), field.message, depth + 1);
    else decodeField(target, field, reader, wire, depth);
  }
}

type NamedField = Exclude<MessageField, { kind: 'part' }>;

function decodeField(
  target: JsonObject,
  field: NamedField,
  reader: WireReader,
  wire: number,
  depth: number,
): void {
  try {
    switch (field.kind) {
      case 'single':
        decodeSingle(target, field, reader, wire, depth);
        return;
      case 'list':
        appendItems(listIn(target, field.name), field.value, reader, wire, depth);
        return;
      case 'map':
        decodeEntry(recordIn(target, field.name), field.value, reader.within(wire), depth);
        return;
    }
  } catch (error) {
    throw error instanceof ProtobufError ? error.within(field.name) : error;
  }
}

/** Decodes a single value. If a field occurs twice, the last value counts, and messages merge. */
function decodeSingle(
  target: JsonObject,
  field: NamedField,
  reader: WireReader,
  wire: number,
  depth: number,
): void {
  if (field.value.kind === 'message') {
    decodeInto(recordIn(target, field.name), reader.within(wire), field.value.message, depth + 1);
    return;
  }
  const value = readValue(field.value, reader, wire, depth);
  const isAbsent = value === undefined || (field.omitsZero && isZero(value));
  if (isAbsent) delete target[field.name];
  else target[field.name] = value;
}

const isZero = (value: unknown) => value === '' || value === 0 || value === false;

function listIn(target: JsonObject, name: string): unknown[] {
  const list = target[name];
  if (Array.isArray(list)) return list;
  const made: unknown[] = [];
  target[name] = made;
  return made;
}

function recordIn(target: JsonObject, name: string): JsonObject {
  const record = target[name];
  if (isRecord(record)) return record;
  const made: JsonObject = {};
  target[name] = made;
  return made;
}

/** Appends one item, or the numbers that are packed into one field. */
function appendItems(
  list: unknown[],
  value: ValueType,
  reader: WireReader,
  wire: number,
  depth: number,
): void {
  const single = value.kind === 'scalar' ? packedWire(value.scalar) : undefined;
  if (single === undefined || wire !== wireTypes.bytes) {
    list.push(readValue(value, reader, wire, depth) ?? null);
    return;
  }
  const packed = reader.within(wire);
  while (!packed.done) {
    packed.countValues(1);
    list.push(readValue(value, packed, single, depth));
  }
}

/** Returns the wire type of a scalar that may be packed. */
function packedWire(scalar: Scalar): number | undefined {
  if (scalar === 'double') return wireTypes.fixed64;
  return scalar === 'int32' || scalar === 'int64' || scalar === 'bool' ? wireTypes.varint : undefined;
}

/** Decodes an entry of a map: the key is field 1, the value field 2; an absent one is zero. */
function decodeEntry(target: JsonObject, type: ValueType, entry: WireReader, depth: number): void {
  let key = '';
  let value = zeroOf(type);
  eachField(entry, {
    1: (reader, wire) => {
      key = reader.string(wire);
    },
    2: (reader, wire) => {
      value = readValue(type, reader, wire, depth);
    },
  });
  setOwn(target, key, value ?? null);
}

/** Returns the value that an empty message, or no bytes, represents. */
function zeroOf(type: ValueType): unknown {
  switch (type.kind) {
    case 'message':
      return {};
    case 'items':
      return [];
    case 'raw':
      return null;
    case 'either':
      return zeroOf(type.first.value);
    case 'scalar':
      return scalarZeros[type.scalar];
  }
}

const scalarZeros: Readonly<Record<Scalar, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  time: null,
  microTime: null,
  quantity: '0',
  intOrString: 0,
  bytes: '',
};

/** Returns the value; undefined is Go's zero time, which is null in JSON. */
function readValue(type: ValueType, reader: WireReader, wire: number, depth: number): unknown {
  switch (type.kind) {
    case 'scalar':
      return scalarReaders[type.scalar](reader, wire);
    case 'message': {
      const result: JsonObject = {};
      decodeInto(result, reader.within(wire), type.message, depth + 1);
      return result;
    }
    case 'items':
      return readItems(type.items, reader.within(wire), depth);
    case 'raw':
      return readRaw(reader.within(wire));
    case 'either':
      return readEither(type, reader.within(wire), depth);
  }
}

function readEither(
  { first, second }: Extract<ValueType, { kind: 'either' }>,
  message: WireReader,
  depth: number,
): unknown {
  const found: { first?: unknown; second?: unknown } = {};
  const read =
    (place: 'first' | 'second', { value, isList }: Alternative): FieldReader =>
    (reader, wire) => {
      const one = readValue(value, reader, wire, depth + 1);
      const known = found[place];
      found[place] = isList ? [...(Array.isArray(known) ? known : []), one] : one;
    };
  eachField(message, { 1: read('first', first), 2: read('second', second) });
  return found.second ?? found.first ?? zeroOf(first.value);
}

const scalarReaders: Readonly<Record<Scalar, (reader: WireReader, wire: number) => unknown>> = {
  string: (reader, wire) => reader.string(wire),
  bool: (reader, wire) => reader.bool(wire),
  int32: (reader, wire) => reader.int32(wire),
  int64: (reader, wire) => reader.int64(wire),
  double: (reader, wire) => reader.double(wire),
  bytes: (reader, wire) => reader.bytes(wire).toBase64(),
  time: (reader, wire) => readTime(reader.within(wire), 0),
  microTime: (reader, wire) => readTime(reader.within(wire), 6),
  quantity: (reader, wire) => readQuantity(reader.within(wire)),
  intOrString: (reader, wire) => readIntOrString(reader.within(wire)),
};

function readItems(items: ValueType, message: WireReader, depth: number): unknown[] {
  const list: unknown[] = [];
  const append: FieldReader = (reader, wire) => appendItems(list, items, reader, wire, depth + 1);
  eachField(message, { 1: append });
  return list;
}

function readRaw(message: WireReader): unknown {
  let text = '';
  eachField(message, {
    1: (reader, wire) => {
      text = reader.string(wire);
    },
  });
  if (text === '') return null;
  try {
    message.countValues(measureJson(text).values);
    return parseJson(text, false).value;
  } catch (error) {
    throw error instanceof TextError ? new ProtobufError(error.message) : error;
  }
}
