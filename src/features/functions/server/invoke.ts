/** Handler of functions/NAME/invoke: a call through the API. */
import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import type { Handler, RequestScope } from '../../../apiserver/request/request-scope.ts';
import { headersOf, StreamedAnswer } from '../../../apiserver/transport/streamed-answer.ts';
import { isDeliverer } from '../api/own-headers.ts';
import { callFunction } from './call.ts';
import { beginningOf } from './call-body.ts';
import { type CallBody, maxBodyBytes, tooLarge } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import type { InstanceConnections } from './instance-connections.ts';

export const invokeFunction =
  (gateway: Gateway, connections: InstanceConnections): Handler =>
  async (scope) => {
    const { info, server, request, remoteAddress, signal, user } = scope;
    const calls = gateway.callsOf(info.namespace, info.name);
    const url = new URL(request.url);
    const answer = await callFunction({ ...server, gateway, connections }, calls, {
      method: request.method,
      headers: request.headers,
      path: url.pathname,
      target: `${info.rest || '/'}${url.search}`,
      host: url.host,
      remoteAddress,
      isDelivery: isDeliverer(user),
      body: await bodyOf(scope),
      signal,
    });
    const { status, fields, body } = answer;
    if (!body) return new Response(null, { status, headers: headersOf(fields) });
    return new StreamedAnswer(status, body, fields);
  };

async function bodyOf({ request, remoteAddress, server, signal }: RequestScope): Promise<CallBody> {
  // The whole body of a client in this process is available at once.
  if (remoteAddress === undefined) return Buffer.from(await request.arrayBuffer());
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (length > maxBodyBytes) throw tooLarge();
  const isChunked = request.headers.has('transfer-encoding');
  if (length === 0) return Buffer.alloc(0);
  if (!request.body || !(isChunked || length > 0)) return undefined;
  return beginningOf(Readable.fromWeb(request.body as WebStream<Uint8Array>), server.clock, signal);
}
