/**
 * Answers in protobuf. Inside the server every answer is JSON; this is where one becomes a message, for a client that takes
 * nothing else. Kinds of our own have no field numbers and no form in protobuf, as custom resources have none upstream.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject, ListMeta } from '../../apimachinery/meta.ts';
import { encodeMessage } from '../../apimachinery/protobuf/encode-message.ts';
import { encodeProtobuf, protobufType, sealEnvelope } from '../../apimachinery/protobuf/envelope.ts';
import type { MessageField, MessageTable, MessageType } from '../../apimachinery/protobuf/message-types.ts';
import { WireWriter } from '../../apimachinery/protobuf/writer.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import type { Status } from '../../apimachinery/status-error.ts';
import type { Handler, RequestScope } from '../request-scope.ts';
import { jsonType, type Headers as PlainHeaders, respondStatus } from '../respond.ts';
import { partialHead } from '../table.ts';
import { Turn } from '../turns.ts';
import { negotiateForm, type Offer, type ResponseForm } from './accept.ts';

/** Throws 406 when the client takes no form that the kind has. */
export function formOf(
  request: Request,
  definition: ResourceDefinition,
  forms: Offer['forms'],
  messages: MessageTable,
): ResponseForm {
  const protobuf = messages.typeOf(definition.typeName) !== undefined;
  return negotiateForm(request.headers.get('accept'), { protobuf, forms });
}

/** The handler behind a check of the Accept header, so that nothing is written for a client that takes no answer. */
export const inForm =
  (handler: Handler): Handler =>
  async (scope) => {
    const { encoding } = scope.form;
    const response = await handler(scope);
    return encoding === 'protobuf' ? toProtobuf(response, scope.served, scope.server.messages) : response;
  };

/** A Status for any request; in JSON where the client's Accept header cannot be honoured. */
export async function statusInForm(
  request: Request,
  status: Status,
  headers: PlainHeaders,
  messages: MessageTable,
): Promise<Response> {
  const answer = respondStatus(status, headers);
  return prefersProtobuf(request) ? toProtobuf(answer, undefined, messages) : answer;
}

function prefersProtobuf(request: Request): boolean {
  try {
    return negotiateForm(request.headers.get('accept'), { protobuf: true }).encoding === 'protobuf';
  } catch {
    return false;
  }
}

/** Lists and watches come as protobuf already; of other answers the kind in the JSON says what they are. */
async function toProtobuf(
  response: Response,
  definition: ResourceDefinition | undefined,
  messages: MessageTable,
): Promise<Response> {
  if (response.headers.get('content-type') !== jsonType['content-type']) return response;
  const value = JSON.parse(await response.text()) as JsonObject;
  const type = answerType(String(value.kind), definition, messages);
  if (!type) throw new Error(`the response has no protobuf encoding: ${response.url}`);
  const headers = new Headers(response.headers);
  headers.set('content-type', protobufType);
  return new Response(encodeProtobuf(value, type) as Uint8Array<ArrayBuffer>, {
    status: response.status,
    headers,
  });
}

function answerType(
  kind: string,
  definition: ResourceDefinition | undefined,
  messages: MessageTable,
): MessageType | undefined {
  switch (kind) {
    case 'Status':
      return messages.typeOf('meta.v1.Status');
    case 'Scale':
      return messages.typeOf('autoscaling.v1.Scale');
    case 'PartialObjectMetadata':
      return partialType(messages);
    case definition?.kind:
      return definition && objectType(definition, messages);
    case `${definition?.kind}List`:
      return definition && listType(objectType(definition, messages), messages);
    default:
      return undefined;
  }
}

const messageField = (kind: 'single' | 'list', name: string, message: MessageType): MessageField => ({
  kind,
  name,
  value: { kind: 'message', message },
  omitsZero: false,
});

function known(name: string, messages: MessageTable): MessageType {
  const type = messages.typeOf(name);
  if (!type) throw new Error(`the table of types has no ${name}`);
  return type;
}

const objectType = (definition: ResourceDefinition, messages: MessageTable) =>
  known(definition.typeName, messages);

/** meta.k8s.io's PartialObjectMetadata. */
const partialType = (messages: MessageTable): MessageType => ({
  name: 'PartialObjectMetadata',
  fields: new Map([[1, messageField('single', 'metadata', known('meta.v1.ObjectMeta', messages))]]),
});

/** Every list is so: its own metadata, then the objects. */
const itemsNumber = 2;
const listType = (item: MessageType, messages: MessageTable): MessageType => ({
  name: `${item.name}List`,
  fields: new Map([
    [1, messageField('single', 'metadata', known('meta.v1.ListMeta', messages))],
    [itemsNumber, messageField('list', 'items', item)],
  ]),
});

/** What an object is in the form; its own apiVersion and kind are in the envelope alone. */
export const typeInForm = (definition: ResourceDefinition, form: ResponseForm, messages: MessageTable) =>
  form.type === 'metadata' ? partialType(messages) : objectType(definition, messages);

export const headInForm = (definition: ResourceDefinition, form: ResponseForm) =>
  form.type === 'metadata'
    ? partialHead(form.version)
    : { kind: definition.kind, apiVersion: apiVersionOf(definition) };

/** A whole list, made in turns: a message says how long it is before it begins. Objects are decoded one by one. */
export async function protobufList(
  { served, form, signal, server: { turns, messages } }: RequestScope,
  metadata: ListMeta,
  items: Iterable<{ readonly object: KubeObject }>,
): Promise<Uint8Array> {
  const item = typeInForm(served, form, messages);
  const { kind, apiVersion } = headInForm(served, form);
  const pieces: Buffer[] = [];
  let writer = new WireWriter();
  let turn = new Turn();
  let before = 0;
  encodeMessage(writer, { metadata: { ...metadata } }, listType(item, messages));
  for (const { object } of items) {
    writer.message(itemsNumber, () =>
      encodeMessage(writer, asServed(served, object) as unknown as JsonObject, item),
    );
    const over = turn.took(writer.size - before);
    before = writer.size;
    if (!over) continue;
    pieces.push(writer.finish());
    writer = new WireWriter();
    turn = new Turn();
    before = 0;
    await turns.next(signal);
  }
  pieces.push(writer.finish());
  return Buffer.concat(sealEnvelope(apiVersion, `${kind}List`, pieces));
}
