/**
 * Answers in protobuf. Stored objects are JSON, so an object is decoded and encoded; the message of an object
 * in the watch cache is cached for later requests. minik8s' own kinds have no field numbers and therefore no
 * protobuf form, as custom resources have none upstream.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { ListMeta } from '../../apimachinery/meta.ts';
import { encodeMessage } from '../../apimachinery/protobuf/encode-message.ts';
import {
  encodeProtobuf,
  envelopeHead,
  protobufType,
  sealEnvelope,
} from '../../apimachinery/protobuf/envelope.ts';
import type { MessageField, MessageTable, MessageType } from '../../apimachinery/protobuf/message-types.ts';
import { varintLength, WireWriter } from '../../apimachinery/protobuf/writer.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { CacheEvent } from '../../storage/cache.ts';
import { join } from '../../storage/codec.ts';
import type { ResponseForm } from '../negotiation/accept.ts';
import { respond } from '../respond.ts';
import { Turn } from '../turns.ts';
import { connectionAfter, pieceBytes } from './collection-body.ts';
import type { Encoder, Kept, Listing } from './encoder.ts';
import { atRevision, bookmarkMeta, type Crossings, crossings, type Frames, type Framing } from './framing.ts';
import type { MadeOnce } from './made.ts';
import { listHead, type Shape } from './shape.ts';

export interface ProtobufParts {
  readonly shape: Shape;
  readonly type: MessageType;
  readonly table: MessageTable;
  /** Cached messages of objects in the watch cache. */
  readonly messages: MadeOnce<Kept>;
  readonly frames: Frames;
  readonly made: Crossings;
}

export function protobufEncoder(parts: ProtobufParts): Encoder {
  const { shape, table } = parts;
  const opening = envelopeHead(shape.head.apiVersion, shape.head.kind);
  return {
    contentType: protobufType,
    object: (found) => sealEnvelope(opening, messageOf(found, parts)),
    otherKind: (value) => encodeOther(value, table),
    list: (listing, metadata, items) => respondList(parts, listing, metadata, items),
    framing: () => protobufFraming(parts, opening),
  };
}

function messageOf(found: Kept, { shape, type, messages }: ProtobufParts): Buffer {
  const known = messages.get(found);
  if (known) return known;
  const made = join([written(shape.show(found.object), type)]);
  return found.revision === undefined ? made : messages.keep(found, made);
}

const writer = new WireWriter();

/**
 * Encodes an object. The result is valid until the next call. `apiVersion` and `kind` are not fields of the
 * message: the envelope contains them.
 */
function written(object: object, type: MessageType): Buffer {
  writer.clear();
  encodeMessage(writer, object as JsonObject, type);
  return writer.finish();
}

/** Message types of answers whose kind is not the addressed one. */
const otherTypes: Readonly<Record<string, string>> = {
  Status: 'meta.v1.Status',
  Scale: 'autoscaling.v1.Scale',
  TokenRequest: 'authentication.v1.TokenRequest',
};

export function encodeOther(value: JsonObject, table: MessageTable): Buffer {
  const name = otherTypes[String(value.kind)];
  if (!name) throw new Error(`an answer of kind ${value.kind} has no encoding in protobuf`);
  return encodeProtobuf(value, known(name, table));
}

function known(name: string, table: MessageTable): MessageType {
  const type = table.typeOf(name);
  if (!type) throw new Error(`the table of types has no ${name}`);
  return type;
}

const messageField = (kind: 'single' | 'list', name: string, message: MessageType): MessageField => ({
  kind,
  name,
  value: { kind: 'message', message },
  omitsZero: false,
});

/** Returns the message type of objects of the kind in this form. */
export const typeInForm = (
  served: ResourceDefinition,
  form: ResponseForm,
  table: MessageTable,
): MessageType =>
  form.type === 'metadata'
    ? {
        name: 'PartialObjectMetadata',
        fields: new Map([[1, messageField('single', 'metadata', known('meta.v1.ObjectMeta', table))]]),
      }
    : known(served.typeName, table);

/** Field number of the items in every list message: field 1 is the metadata of the list. */
const itemsNumber = 2;

/** Encodes all messages before the first byte is sent, in turns, because a list begins with its length. */
async function respondList(
  parts: ProtobufParts,
  { headers, signal, server: { turns } }: Listing,
  metadata: ListMeta,
  items: readonly Kept[],
): Promise<Response> {
  const { kind, apiVersion } = listHead(parts.shape);
  const own = new WireWriter();
  const start = own.begin(1);
  encodeMessage(own, { ...metadata }, known('meta.v1.ListMeta', parts.table));
  own.end(start);
  const messages: Buffer[] = [];
  let size = own.size;
  let turn = new Turn();
  for (const item of items) {
    const made = messageOf(item, parts);
    messages.push(made);
    size += fieldLength(made.length);
    if (!turn.took(made.length)) continue;
    turn = new Turn();
    await turns.next(signal);
  }
  const head = new WireWriter();
  head.append(envelopeHead(apiVersion, kind));
  head.length(2, size);
  head.append(own.finish());
  const pieces = piecesOf(head.finish(), messages);
  const all = { ...headers, 'content-type': protobufType, ...connectionAfter(size) };
  const [first = head.finish(), second] = [pieces.next().value, pieces.next().value];
  return respond(200, second ? streamOf([first, second], pieces) : first, all);
}

function* piecesOf(head: Buffer, messages: readonly Buffer[]): Generator<Buffer, undefined> {
  let piece = new WireWriter(pieceBytes);
  piece.append(head);
  for (const message of messages) {
    piece.bytes(itemsNumber, message);
    if (piece.size < pieceBytes) continue;
    yield piece.finish();
    piece = new WireWriter(pieceBytes);
  }
  if (piece.size > 0) yield piece.finish();
}

/** Returns the pieces as a stream that encodes a piece when it is read. */
const streamOf = (ready: Buffer[], pieces: Iterator<Buffer, undefined>): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    pull(controller) {
      const value = ready.shift() ?? pieces.next().value;
      if (value) controller.enqueue(value);
      else controller.close();
    },
  });

/** Returns the size in bytes of a field of this length whose number is below 16. */
const fieldLength = (length: number) => 1 + varintLength(length) + length;

/**
 * Frames an event: the length in four bytes, big-endian, then a metav1.WatchEvent whose object is in an
 * envelope of its own (apimachinery's LengthDelimitedFramer; the event itself has no envelope). The message
 * is the last part of the frame.
 */
function frame(event: string, opening: Buffer, message: Buffer): Buffer {
  const envelope = opening.length + fieldLength(message.length);
  const object = fieldLength(envelope);
  const length = fieldLength(event.length) + fieldLength(object);
  const whole = new WireWriter(lengthBytes + length);
  whole.append(lengthOf(length));
  whole.string(1, event);
  whole.length(2, object);
  whole.length(1, envelope);
  whole.append(opening);
  whole.bytes(2, message);
  return whole.finish();
}

const lengthBytes = 4;

function lengthOf(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(lengthBytes);
  bytes.writeUInt32BE(length);
  return bytes;
}

function protobufFraming(parts: ProtobufParts, opening: Buffer): Framing {
  const { shape, type, table, messages, frames } = parts;
  /** Caches the object's message as a part of the frame: both share one allocation. */
  const frameEvent = ({ type: event, current }: CacheEvent): Buffer => {
    const known = messages.get(current);
    if (known) return frame(event, opening, known);
    const message = written(shape.show(current.object), type);
    const made = frame(event, opening, message);
    messages.keep(current, made.subarray(made.length - message.length));
    return made;
  };
  const frameAt: Framing['frame'] = (event, shown, revision) =>
    frame(
      event,
      opening,
      shown.revision === revision
        ? messageOf(shown, parts)
        : written(shape.show(atRevision(shown.object, revision)), type),
    );
  return {
    contentType: `${protobufType};stream=watch`,
    frame: frameAt,
    ...crossings(frameAt, parts.made),
    unchanged: (event) => frames.get(event) ?? frames.keep(event, frameEvent(event)),
    bookmark: (revision, annotations) =>
      frame('BOOKMARK', opening, written({ metadata: bookmarkMeta(revision, annotations) }, type)),
    error(status) {
      const message = written(status, known('meta.v1.Status', table));
      return frame('ERROR', envelopeHead(status.apiVersion, status.kind), message);
    },
  };
}
