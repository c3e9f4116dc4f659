/**
 * Serves calls at the gateway's port without creating a Request and a Response, which cost more than the rest
 * of a call. All checks are those of the app (`ApiServer.admit`). Unusual requests are passed to the app,
 * which serves calls too.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiServer } from '../../../apiserver/app.ts';
import type { DirectRequest } from '../../../apiserver/transport/asked-request.ts';
import type { DirectServe, DirectWay } from '../../../apiserver/transport/listen-options.ts';
import { pipeAnswer } from '../../../apiserver/transport/streamed-answer.ts';
import { sendWhole, WholeAnswer } from '../../../apiserver/transport/whole-answer.ts';
import type { Clock } from '../../../base/clock.ts';
import type { RequestHeaders } from '../../../kube-apiserver/forwarding/headers.ts';
import type { ResultListener } from '../../../kube-apiserver/forwarding/result-listener.ts';
import { type CallServer, callFunction } from './call.ts';
import { beginningOf, maxKept } from './call-body.ts';
import { type CallBody, maxBodyBytes, tooLarge } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { callPath } from './gateway-app.ts';

export interface DirectCallsOptions extends CallServer {
  readonly server: Pick<ApiServer, 'admit' | 'refuse'>;
  readonly gateway: Gateway;
  readonly results: Pick<ResultListener, 'listens'>;
}

/**
 * Parsing does not change a URL that has only these characters; `.` and `..` as parts of a path were rejected
 * before.
 */
const plainUrl = /^\/function\/[\w.~!$&'()*+,;=:@%/-]+(?:\?[\w.~!$&'()*+,;=:@%/?-]*)?$/;
const plainHost = /^[\w.-]+(?::\d{1,5})?$/;
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

const isPlain = ({ url = '', method = '', headers }: IncomingMessage) =>
  methods.has(method) && plainUrl.test(url) && plainHost.test(headers.host ?? '');

export const directCalls =
  (options: DirectCallsOptions): DirectServe =>
  (incoming, outgoing, way) => {
    const { url = '', method = '' } = incoming;
    if (!isPlain(incoming) || hasSeveralCredentials(incoming.rawHeaders)) return false;
    const at = url.indexOf('?');
    const path = at < 0 ? url : url.slice(0, at);
    const address = callPath(path);
    if (address === undefined || hasListeners(options, address)) return false;
    const search = at < 0 ? '' : url.slice(at);
    const gone = new AbortController();
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) gone.abort(new DOMException('the caller has left', 'AbortError'));
    });
    outgoing.on('error', () => undefined);
    const fields = new IncomingFields(incoming);
    const query = new URLSearchParams(search);
    const request = { method, url, headers: fields, signal: gone.signal, address, query };
    void serve(options, { ...request, path, search, fields }, incoming, outgoing, way);
    return true;
  };

/**
 * Returns true if the result must be reported to listeners, which only the app does. Names with
 * percent-encoding are passed to the app, too.
 */
function hasListeners({ results }: DirectCallsOptions, address: string): boolean {
  const [, , , , , namespace = '', , name = ''] = address.split('/');
  const isPlain = !namespace.includes('%') && !name.includes('%');
  return !isPlain || results.listens(namespace, name);
}

interface DirectCall extends DirectRequest {
  readonly path: string;
  readonly search: string;
  readonly fields: RequestHeaders;
}

/** Serves the call; never rejects. */
async function serve(
  options: DirectCallsOptions,
  request: DirectCall,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { env, settle }: DirectWay,
): Promise<void> {
  const { server, gateway } = options;
  try {
    const answer = await server.admit(request, { ...env, mayBeAnonymous: true }, async (info) => {
      const calls = gateway.callsOf(info.namespace, info.name);
      return callFunction(options, calls, {
        method: request.method,
        headers: request.fields,
        path: request.path,
        target: `${info.rest || '/'}${request.search}`,
        host: incoming.headers.host ?? '',
        remoteAddress: env.remoteAddress,
        isDelivery: false,
        body: await bodyOf(incoming, options.clock, request.signal),
        signal: request.signal,
      });
    });
    const { status, fields, body } = answer;
    if (outgoing.destroyed) {
      body?.destroy();
      return;
    }
    settle(status);
    if (body) pipeAnswer(status, fields, body, outgoing);
    else outgoing.writeHead(status, fields as string[]).end();
  } catch (error) {
    if (outgoing.destroyed || outgoing.headersSent) return void outgoing.destroy();
    const refused = server.refuse(request, error);
    settle(refused.status);
    sendRefused(refused, incoming, outgoing);
  }
}

function sendRefused(refused: Refused, incoming: IncomingMessage, outgoing: ServerResponse): void {
  // The rest of a body is not read.
  if (!incoming.complete && !(Number(incoming.headers['content-length']) <= maxKept))
    outgoing.shouldKeepAlive = false;
  if (refused instanceof WholeAnswer) sendWhole(outgoing, refused);
  else outgoing.writeHead(refused.status).end();
}

type Refused = ReturnType<DirectCallsOptions['server']['refuse']>;

/**
 * Returns whether there are several Authorization headers: Node uses the first one, but the app joins them,
 * and the joined text matches no credentials.
 */
function hasSeveralCredentials(raw: readonly string[]): boolean {
  let found = 0;
  for (let i = 0; i < raw.length; i += 2) if (raw[i]?.toLowerCase() === 'authorization') found += 1;
  return found > 1;
}

/** The headers as Node has joined them. */
class IncomingFields implements RequestHeaders {
  readonly #headers: IncomingMessage['headers'];

  constructor({ headers }: IncomingMessage) {
    this.#headers = headers;
  }

  get(name: string): string | null {
    const value = this.#headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : (value ?? null);
  }

  has(name: string): boolean {
    return this.#headers[name.toLowerCase()] !== undefined;
  }

  *[Symbol.iterator](): Iterator<readonly [string, string]> {
    for (const name in this.#headers) yield [name, this.get(name) ?? ''];
  }
}

async function bodyOf(incoming: IncomingMessage, clock: Clock, gone: AbortSignal): Promise<CallBody> {
  const { headers } = incoming;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const length = Number(headers['content-length'] ?? 0);
  if (length > maxBodyBytes) throw tooLarge();
  return isChunked || length > 0 ? beginningOf(incoming, clock, gone) : Buffer.alloc(0);
}
