/** Answers in the form that the client accepts: one object, another kind such as a Scale, or an error. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { type FieldSelector, parseFieldSelector } from '../../apimachinery/field-selector.ts';
import { booleanParameter } from '../../apimachinery/list-options.ts';
import { protobufType } from '../../apimachinery/protobuf/envelope.ts';
import type { MessageTable } from '../../apimachinery/protobuf/message-types.ts';
import type { Status } from '../../apimachinery/status-error.ts';
import type { ObjectPart } from '../kind-behavior.ts';
import { negotiateForm, type Offer } from '../negotiation/accept.ts';
import type { Handler, RequestScope } from '../request/request-scope.ts';
import { countedName } from '../request/user.ts';
import { type Headers, respond, respondStatus, retryHeader } from '../respond.ts';
import type { AskedRequest } from '../transport/asked-request.ts';
import type { Encoder, Kept } from './encoder.ts';
import { encodeOther } from './protobuf.ts';
import { parseIncludeObject } from './table.ts';
import { inYaml } from './yaml.ts';

type Asked = Pick<RequestScope, 'info' | 'query' | 'request' | 'served' | 'server' | 'user'>;

/**
 * Returns the encoder of an answer. `forms` are the forms that the endpoint supports; defaults to all. Throws
 * 406 if the client accepts none of them.
 */
export function encoderOf(asked: Asked, forms: Offer['forms']): Encoder {
  const { query, request, served, server } = asked;
  const part = partOf(asked);
  if (part) {
    negotiateForm(request.headers.get('accept'), { forms: ['object'] });
    return server.encoders.ofPart(served, part);
  }
  const protobuf = server.messages.typeOf(served.typeName) !== undefined;
  const yaml = !booleanParameter(query, 'watch');
  const form = negotiateForm(request.headers.get('accept'), { protobuf, yaml, forms });
  return server.encoders.of(served, form, () => parseIncludeObject(query.get('includeObject')));
}

/** Returns the part of the objects that the user may read; only collections have one. */
function partOf({ info, query, request, served, server, user }: Asked): ObjectPart | undefined {
  if (request.method !== 'GET' || info.name !== '') return undefined;
  return server.behavior.partOf({ user, definition: served, fieldSelector: fieldSelectorOf(query) });
}

function fieldSelectorOf(query: URLSearchParams): FieldSelector | undefined {
  try {
    return parseFieldSelector(query.get('fieldSelector') ?? '');
  } catch {
    return undefined;
  }
}

/**
 * Wraps a handler so that the Accept header is checked first, and nothing is written for a client that
 * accepts no answer.
 */
export const negotiated =
  (handler: Handler): Handler =>
  async (scope) => {
    const { encoder, server, user } = scope;
    const answer = await handler(scope);
    return encoder.inYaml ? inYaml(answer, (json) => server.writeYaml(json, countedName(user.name))) : answer;
  };

type Answering = Pick<RequestScope, 'encoder' | 'headers'>;

export const respondObject = ({ encoder, headers }: Answering, status: number, found: Kept): Response =>
  respond(status, encoder.object(found), { ...headers, 'content-type': encoder.contentType });

/** Answers with another kind than the addressed one: a Status, a Scale. */
export const respondOther = ({ encoder, headers }: Answering, status: number, value: JsonObject): Response =>
  respond(status, encoder.otherKind(value), { ...headers, 'content-type': encoder.contentType });

/** Answers a failed request; in JSON if the client's Accept header is not supported or requests YAML. */
export function statusInForm(
  request: Pick<AskedRequest, 'headers'>,
  status: Status,
  headers: Headers,
  messages: MessageTable,
): Response {
  if (!takesProtobuf(request)) return respondStatus(status, headers);
  const body = encodeOther(status as Status & JsonObject, messages);
  return respond(status.code, body, { ...headers, ...retryHeader(status), 'content-type': protobufType });
}

function takesProtobuf(request: Pick<AskedRequest, 'headers'>): boolean {
  try {
    return negotiateForm(request.headers.get('accept'), { protobuf: true }).encoding === 'protobuf';
  } catch {
    return false;
  }
}
