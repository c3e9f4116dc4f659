/**
 * Forwards one request over a connection of its own, and streams the answer back (upstream's
 * UpgradeAwareHandler).
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, PassThrough, pipeline, Readable, Transform } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';
import { newBadRequest } from '../../apimachinery/status-error.ts';
import type { RequestScope } from '../../apiserver/request/request-scope.ts';
import { respond } from '../../apiserver/respond.ts';
import type { UpgradedConnection } from '../../apiserver/server-context.ts';
import { upgradedOf } from '../../apiserver/upgrade/upgraded.ts';
import { errorMessage } from '../../base/log.ts';
import { hasAnswerBody, isFinalStatus } from '../forwarding/answer-body.ts';
import { requestHeaders, responseHeaders } from '../forwarding/headers.ts';
import { type ProxiedPage, throughProxy } from '../forwarding/links.ts';
import { type Dial, unreachable } from './dial.ts';
import { HtmlRewriter } from './rewrite-html.ts';

export interface Backend {
  readonly dial: Dial;
  /** Names and ports that the backend may use for itself. */
  readonly hosts: readonly string[];
  /** Headers in addition to those of the request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Forwards the request. Throws a Status if the backend does not answer. */
export async function forward(
  scope: RequestScope,
  { dial, hosts, headers = {} }: Backend,
): Promise<Response> {
  const { request, info, upgrade, shutdown } = scope;
  const url = new URL(request.url);
  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (info.rest === '' && reads && !upgrade) {
    // Relative links of the page would resolve against its parent.
    return respond(301, null, { ...scope.headers, location: `${url.pathname}/${url.search}` });
  }
  if (reads && hasBody(request)) {
    throw newBadRequest(`the body of a ${request.method} request is not forwarded: send it with POST`);
  }
  const signal = shutdown ? AbortSignal.any([scope.signal, shutdown]) : scope.signal;
  const connection = await dial(signal);
  // A destroyed connection would emit no further events.
  if (connection.destroyed) throw closed();
  const answer = await send(
    scope,
    url,
    connection,
    signal,
    {
      prefix: url.pathname.slice(0, url.pathname.length - info.rest.length),
      requestHost: request.headers.get('host') ?? '',
      backendHosts: hosts,
    },
    headers,
  );
  if (answer instanceof Response) return answer;
  upgrade?.switchTo(answer);
  return new Response(null);
}

/** Returns whether headers announce a body (RFC 9112 §6.3); the stream of the body always exists. */
const hasBody = ({ headers }: Request) =>
  headers.has('transfer-encoding') || Number(headers.get('content-length')) > 0;

function send(
  scope: RequestScope,
  url: URL,
  connection: Duplex,
  signal: AbortSignal,
  page: ProxiedPage,
  more: Readonly<Record<string, string>>,
): Promise<Response | UpgradedConnection> {
  const { request, info, upgrade, remoteAddress } = scope;
  const { method, headers } = request;
  const given = {
    headers,
    path: url.pathname,
    host: url.host,
    remoteAddress,
    upgrade: upgrade !== undefined,
  };
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      createConnection: () => connection,
      method,
      path: `${info.rest || '/'}${url.search}`,
      headers: { ...requestHeaders(given), ...more },
      signal,
    });
    sent.on('error', (error) => reject(unreachable(errorMessage(error))));
    // Closes without an error if the backend upgrades a connection that did not ask for it.
    sent.on('close', () => reject(closed()));
    // The answer is read at once: its end may arrive together with its head, and would be missed later.
    sent.on('response', (answer) => resolve(Promise.try(answerOf, scope, answer, page)));
    if (upgrade) {
      sent.on('upgrade', (answer, socket, head) => resolve(upgradedOf(answer, socket as Socket, head)));
    }
    if (!hasBody(request) || !request.body) return void sent.end();
    // A backend may answer before any of the body is sent, and disconnect before it has read all.
    sent.flushHeaders();
    pipeline(Readable.fromWeb(request.body as WebStream<Uint8Array>), sent, () => undefined);
  });
}

const closed = () => unreachable('the connection was closed');

function answerOf(scope: RequestScope, answer: IncomingMessage, page: ProxiedPage): Response {
  const status = answer.statusCode ?? 0;
  if (!isFinalStatus(status)) {
    answer.destroy();
    throw unreachable(`it answered with the status ${status}`);
  }
  const { headers, html } = responseHeaders(answer.rawHeaders, page, scope.headers);
  if (!hasAnswerBody(scope.request.method, status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  const body = wholeOrCut(html === undefined ? answer : withLinks(answer, html, page), scope.hangUp);
  return new Response(Readable.toWeb(body) as ReadableStream<Uint8Array>, { status, headers });
}

/**
 * Closes the client's connection if the backend fails, so that the client sees a truncated body. Not logged.
 */
function wholeOrCut(answer: Readable, hangUp: (() => void) | undefined): Readable {
  if (!hangUp) return answer;
  const body = new PassThrough();
  answer.once('error', () => {
    hangUp();
    body.end();
  });
  return answer.pipe(body);
}

/** Returns the document with links through the proxy, without content encoding. */
function withLinks(answer: IncomingMessage, encoding: string, page: ProxiedPage): Readable {
  const rewriter = new HtmlRewriter((link) => throughProxy(link, page));
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  const rewritten = new Transform({
    transform: (chunk: Buffer, _, done) => done(null, bytes(rewriter.push(chunk.toString('latin1')))),
    flush: (done) => done(null, bytes(rewriter.end())),
  });
  if (encoding === '') return pipeline(answer, rewritten, () => undefined);
  // An empty body is valid in every encoding.
  const decoder =
    encoding === 'br'
      ? createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })
      : createUnzip({ finishFlush: constants.Z_SYNC_FLUSH });
  return pipeline(answer, decoder, rewritten, () => undefined);
}
