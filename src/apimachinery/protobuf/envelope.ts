/** The envelope of every object in Kubernetes' protobuf form: four bytes, then a runtime.Unknown. */
import type { JsonObject } from '../equality.ts';
import { decodeMessage } from './decode-message.ts';
import { encodeMessage } from './encode-message.ts';
import type { MessageType } from './message-types.ts';
import { eachField, ProtobufError, WireReader } from './reader.ts';
import { varintLength, WireWriter } from './writer.ts';

export const protobufType = 'application/vnd.kubernetes.protobuf';

/** The bytes of `k8s` and a zero. */
const prefix = [0x6b, 0x38, 0x73, 0x00];

interface Envelope {
  /** Both are empty when the sender leaves them to the request's path. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

/** The expected identity of a body. Without `apiVersion`, any version is accepted, as for DeleteOptions. */
export interface Expected {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly type: MessageType;
}

/**
 * Returns the object in the envelope as its JSON value. For an object of another kind or version, the value
 * has only `apiVersion` and `kind`, for the caller to reject. Throws ProtobufError.
 */
export function decodeProtobuf(body: Uint8Array, expected: Expected): JsonObject {
  const { apiVersion, kind, raw } = openEnvelope(body);
  const identity = { ...(apiVersion && { apiVersion }), ...(kind && { kind }) };
  const isOther =
    (kind !== '' && kind !== expected.kind) ||
    (apiVersion !== '' && expected.apiVersion !== undefined && apiVersion !== expected.apiVersion);
  return isOther ? identity : { ...identity, ...decodeMessage(raw, expected.type) };
}

function openEnvelope(body: Uint8Array): Envelope {
  if (!prefix.every((byte, index) => body[index] === byte))
    throw new ProtobufError('it does not begin with the four bytes of a Kubernetes protobuf object');
  let apiVersion = '';
  let kind = '';
  let raw: Uint8Array = new Uint8Array();
  let encoding = '';
  let type = '';
  eachField(new WireReader(body.subarray(prefix.length)), {
    1: (reader, wire) =>
      eachField(reader.within(wire), {
        1: (inner, innerWire) => {
          apiVersion = inner.string(innerWire);
        },
        2: (inner, innerWire) => {
          kind = inner.string(innerWire);
        },
      }),
    2: (reader, wire) => {
      raw = reader.bytes(wire);
    },
    3: (reader, wire) => {
      encoding = reader.string(wire);
    },
    4: (reader, wire) => {
      type = reader.string(wire);
    },
  });
  if (encoding !== '')
    throw new ProtobufError(`the content encoding ${JSON.stringify(encoding)} is not known`);
  if (type !== '' && type !== protobufType)
    throw new ProtobufError(`the content type ${JSON.stringify(type)} inside the envelope is not protobuf`);
  return { apiVersion, kind, raw };
}

/** Returns an object in its envelope. Throws ProtobufError where a value is not of its field's type. */
export function encodeProtobuf(object: JsonObject, type: MessageType): Buffer {
  const writer = new WireWriter();
  encodeMessage(writer, object, type);
  return sealEnvelope(
    envelopeHead(String(object.apiVersion ?? ''), String(object.kind ?? '')),
    writer.finish(),
  );
}

/** Returns the bytes with which every envelope of a kind begins. */
export function envelopeHead(apiVersion: string, kind: string): Buffer {
  const writer = new WireWriter();
  writer.append(Uint8Array.from(prefix));
  const start = writer.begin(1);
  writer.string(1, apiVersion);
  writer.string(2, kind);
  writer.end(start);
  return writer.finish();
}

/** Returns the envelope around a message. */
export function sealEnvelope(head: Buffer, message: Buffer): Buffer {
  const { length } = message;
  const writer = new WireWriter(head.length + 1 + varintLength(length) + length);
  writer.append(head);
  writer.bytes(2, message);
  return writer.finish();
}
