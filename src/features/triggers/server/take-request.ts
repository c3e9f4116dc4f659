/**
 * Serves triggers/NAME/invoke: turns a request into an event. The request is answered when the event is
 * stored.
 */
import { createHash } from 'node:crypto';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { newBadRequest, newNotFound, newStatusError } from '../../../apimachinery/status-error.ts';
import { readBody } from '../../../apiserver/body/body.ts';
import {
  type Handler,
  methodNotAllowed,
  type RequestScope,
} from '../../../apiserver/request/request-scope.ts';
import { anonymousUser } from '../../../apiserver/request/user.ts';
import { respondJson } from '../../../apiserver/respond.ts';
import { findObject } from '../../../apiserver/stored-object.ts';
import { rfc3339 } from '../../../base/time.ts';
import { requestHeaders } from '../../../kube-apiserver/forwarding/headers.ts';
import { isOwnHeader } from '../../functions/api/own-headers.ts';
import { type Trigger, triggerResource } from '../api/trigger.ts';
import { maxEventData } from '../api/trigger-event.ts';
import type { Happening } from '../api/trigger-event-draft.ts';
import { bodyData } from './body-data.ts';
import type { Intake } from './intake.ts';
import { checkRequestsOfStrangers } from './strangers-requests.ts';

/**
 * Header with a key: a request that is repeated with the same key creates no second event, while the first
 * one exists.
 */
const keyHeader = 'idempotency-key';
const maxKeyLength = 128;
/** Headers that are left out of events, because they carry no information or are secrets of the sender. */
const omittedHeaders = new Set(['cookie', 'connection', 'content-length', 'transfer-encoding', keyHeader]);
/** Maximum size of a body in bytes, so that its data fit into an event. */
const maxBody = maxEventData / 2;

/** Throws if the trigger does not accept requests with this method now. */
function requireOpen({ spec: { http, suspend } }: Trigger, method: string): void {
  const methods: readonly string[] = http?.methods ?? ['POST'];
  if (!methods.includes(method)) throw methodNotAllowed();
  if (suspend) throw newStatusError('ServiceUnavailable', 'the trigger is suspended: it takes no events');
}

export const takeRequest =
  (intake: Intake): Handler =>
  async (scope) => {
    const { info, request, server, user } = scope;
    const trigger = await findObject(server, triggerResource, info.namespace, info.name);
    if (!trigger || isTerminating(trigger)) throw newNotFound(triggerResource, info.name);
    requireOpen(trigger, request.method);
    const key = keyOf(scope);
    if (user.name === anonymousUser) checkRequestsOfStrangers(server.cache, info.namespace, info.name);
    const body = await eventBody(scope);
    const { id, name } = await intake.take(trigger, {
      // The key includes the sender and the request, so that a guessed key cannot suppress the event of
      // another sender.
      key: [
        'request',
        ...(key === undefined ? [server.random.uuid()] : [key, user.name, digestOf(scope, body)]),
      ],
      type: trigger.spec.http ? 'minik8s.io/http.request' : 'minik8s.io/test',
      source: `/namespaces/${info.namespace}/triggers/${info.name}`,
      time: rfc3339(server.clock.now()),
      ...dataOf(scope, body),
    });
    return respondJson(202, { id, event: name }, scope.headers);
  };

/** Reads the body, which becomes the data of the event. */
async function eventBody(scope: RequestScope): Promise<Buffer> {
  const body = await readBody(scope);
  if (body.length <= maxBody) return body;
  const message = `the body of an event may not be more than ${maxBody} bytes`;
  throw newStatusError('RequestEntityTooLarge', message);
}

function keyOf({ request }: RequestScope): string | undefined {
  const key = request.headers.get(keyHeader);
  if (key === null) return undefined;
  if (key === '' || key.length > maxKeyLength)
    throw newBadRequest(`the header Idempotency-Key must have 1 to ${maxKeyLength} characters`);
  return key;
}

/**
 * Returns a digest of the parts of the request that the event contains. Only one header is included, the
 * content type, because a client that repeats the request may send different headers.
 */
function digestOf({ request, info }: RequestScope, body: Buffer): string {
  const type = request.headers.get('content-type') ?? '';
  const about = [request.method, info.rest, new URL(request.url).search, type];
  return createHash('sha256').update(JSON.stringify(about)).update(body).digest('hex');
}

function dataOf(scope: RequestScope, body: Buffer): Pick<Happening, 'data' | 'lessData'> {
  const { request, remoteAddress } = scope;
  const { search, host } = new URL(request.url);
  const path = scope.info.rest || '/';
  const { headers } = request;
  const passed = Object.entries(requestHeaders({ headers, path, host, remoteAddress, upgrade: false }));
  const converted = bodyData(headers.get('content-type') ?? '', body);
  const about = { method: request.method, query: queryOf(search) };
  return {
    data: {
      ...about,
      headers: Object.fromEntries(passed.filter(([name]) => !omittedHeaders.has(name) && !isOwnHeader(name))),
      ...converted,
    },
    // Headers are limited by the server, and the body is limited above.
    lessData: { ...about, headers: {}, truncated: true, ...converted },
  };
}

/** Returns the parameters of the query; of several with the same name, only the last one. */
const queryOf = (search: string) => Object.fromEntries(new URLSearchParams(search));
