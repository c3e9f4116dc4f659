/**
 * The frames of a watch in protobuf: four bytes with the length, the higher ones first, then a metav1.WatchEvent whose object
 * is in an envelope of its own (apimachinery's LengthDelimitedFramer; the event itself has no envelope).
 */

import type { JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { encodeProtobuf, protobufType } from '../../apimachinery/protobuf/envelope.ts';
import type { MessageTable, MessageType } from '../../apimachinery/protobuf/message-types.ts';
import { WireWriter } from '../../apimachinery/protobuf/writer.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import type { CacheEvent } from '../../storage/cache.ts';
import type { ResponseForm } from '../negotiation/accept.ts';
import { headInForm, typeInForm } from '../negotiation/protobuf.ts';
import { atRevision, bookmarkMeta, type Framing } from './framing.ts';

function frameOf(event: string, object: JsonObject, type: MessageType): Buffer {
  const writer = new WireWriter();
  writer.string(1, event);
  writer.message(2, () => writer.bytes(1, encodeProtobuf(object, type)));
  const message = writer.finish();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
}

/** Each event is encoded once for all watches that send the same type of message under the same version. */
const frames = new Map<string, WeakMap<CacheEvent, Buffer>>();

function framesOf(key: string): WeakMap<CacheEvent, Buffer> {
  const found = frames.get(key) ?? new WeakMap<CacheEvent, Buffer>();
  frames.set(key, found);
  return found;
}

export function protobufFraming(
  definition: ResourceDefinition,
  form: ResponseForm,
  messages: MessageTable,
): Framing {
  const type = typeInForm(definition, form, messages);
  const head = headInForm(definition, form);
  const made = framesOf(`${type.name} ${head.apiVersion}`);
  const encode = (event: string, object: KubeObject | JsonObject) =>
    frameOf(event, { ...object, ...head } as JsonObject, type);
  const frame: Framing['frame'] = (event, shown, revision) =>
    encode(event, asServed(definition, atRevision(shown.object, revision)));
  return {
    contentType: `${protobufType};stream=watch`,
    frame,
    unchanged(event) {
      const known = made.get(event) ?? frame(event.type, event.current, event.revision);
      made.set(event, known);
      return known;
    },
    bookmark: (revision, annotations) =>
      encode('BOOKMARK', { metadata: bookmarkMeta(revision, annotations) }),
    error(status) {
      const statusType = messages.typeOf('meta.v1.Status');
      if (!statusType) throw new Error('the table of types has no meta.v1.Status');
      return frameOf('ERROR', status as unknown as JsonObject, statusType);
    },
  };
}
