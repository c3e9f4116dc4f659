/**
 * Serves requests that upgrade their connection from HTTP. They pass the same app as all other requests, with
 * the same authentication, authorization and checks; if a handler accepts the upgrade, the connection is
 * joined to another one.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebStream } from 'node:stream/web';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { maxProtocolsBytes } from '../../http/header-limits.ts';
import { joinConnections } from '../../streams/join-connections.ts';
import type { ApiServer } from '../app.ts';
import { pageFieldsAmong, proofHeader } from '../authentication/browser-session.ts';
import { impersonationFields } from '../authentication/impersonation.ts';
import { bearerAmongProtocols } from '../authentication/websocket-bearer.ts';
import type { RequestEnv } from '../options.ts';
import { respondText } from '../respond.ts';
import type { UpgradedConnection } from '../server-context.ts';
import type { Source } from '../transport/pushed-body.ts';
import { WholeAnswer } from '../transport/whole-answer.ts';
import { serveWatchSocket } from './watch-socket.ts';

export interface UpgradeOptions {
  readonly app: Pick<ApiServer['app'], 'fetch'>;
  /** Aborts when the server stops; closes every connection. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
}

const keepAliveMs = 15_000;

/** Headers that are forwarded to the backend of an upgrade; none of them identifies the client. */
const passedOn = [
  'connection',
  'upgrade',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-protocol',
  'x-stream-protocol-version',
] as const;

const proxied = /^\/api\/v1\/(namespaces\/[^/]+\/(pods|services)|nodes)\/[^/]+\/proxy(?![^/?])/;

/**
 * Returns whether to upgrade: for the protocols that this server supports, and for any other protocol to a
 * /proxy backend, unless the request has a body. Other requests are served as if they had not asked for an
 * upgrade.
 */
export function wantsUpgrade({ headers, url = '' }: IncomingMessage): boolean {
  if (/^(websocket|spdy\/3\.1)$/i.test(headers.upgrade ?? '')) return true;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
  return proxied.test(url) && !hasBody;
}

/** Serves one upgrade request. Resolves when the connection is closed. */
export async function serveUpgrade(
  { app, signal, clock, log }: UpgradeOptions,
  incoming: IncomingMessage,
  socket: Socket,
  head: Buffer,
  client: Pick<RequestEnv, 'peer' | 'expired' | 'remoteAddress' | 'belongsTo'>,
): Promise<void> {
  const gone = new AbortController();
  socket.on('error', () => undefined);
  // A client that disappears without closing its connection may leave programs running.
  socket.setKeepAlive(true, keepAliveMs);
  socket.once('close', () => gone.abort());
  const stop = () => socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    let joined: UpgradedConnection | undefined;
    const headers = headersOf(incoming);
    const upgrade = {
      headers: pick(headers),
      switchTo: (connection: UpgradedConnection) => {
        joined = connection;
      },
    };
    const request = new Request(`https://apiserver${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers,
      signal: gone.signal,
    });
    const onClosed = (fn: () => void) => {
      if (socket.destroyed) fn();
      else socket.once('close', fn);
    };
    const impersonation = impersonationFields(incoming.rawHeaders);
    let watch: Source | undefined;
    const push = (source: Source) => {
      watch = source;
    };
    const response = await app.fetch(request, {
      shutdown: signal,
      upgrade,
      onClosed,
      impersonation,
      ...(isWebSocket(incoming) && { push }),
      ...client,
    });
    if (watch) return await serveWatch({ incoming, socket, head, headers }, response, watch);
    if (!joined) return await answer(incoming, socket, response);
    if (head.length > 0) socket.unshift(head);
    agree(socket, joined);
    await joinConnections(socket, joined.socket, clock);
  } catch (error) {
    log.debug('an upgrade request failed', { error: errorMessage(error) });
    socket.destroy();
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const isWebSocket = ({ headers }: IncomingMessage) => /^websocket$/i.test(headers.upgrade ?? '');

interface Upgrading {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly headers: Headers;
}

/** Serves a watch for which a WebSocket was requested. Its messages are texts, so its events must be JSON. */
async function serveWatch(
  { incoming: request, socket, head, headers }: Upgrading,
  response: Response,
  source: Source,
): Promise<void> {
  if (!/^application\/json\b/.test(response.headers.get('content-type') ?? ''))
    return answer(request, socket, respondText(406, 'a watch by WebSocket has events in JSON alone\n'));
  const protocols = headers.get('sec-websocket-protocol')?.split(', ') ?? [];
  await serveWatchSocket({ request, socket, head, protocols }, source);
}

function headersOf({ headers }: IncomingMessage): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) all.set(name, [value].flat().join(', '));
  }
  const offered = all.get('sec-websocket-protocol');
  // The app rejects a header that is too long.
  if (offered !== null && offered.length <= maxProtocolsBytes) readProtocols(all, offered);
  return all;
}

/** Replaces subprotocols that stand for headers by the headers: a browser cannot set any on a WebSocket. */
function readProtocols(all: Headers, offered: string): void {
  const { authorization, protocols: named } = bearerAmongProtocols(offered);
  const { proof, accept, protocols } = pageFieldsAmong(named);
  const meant = { authorization: all.has('authorization') ? undefined : authorization, accept };
  for (const [name, value] of Object.entries({ ...meant, [proofHeader]: proof }))
    if (value !== undefined) all.set(name, value);
  if (protocols.length > 0) all.set('sec-websocket-protocol', protocols.join(', '));
  else all.delete('sec-websocket-protocol');
}

function pick(headers: Headers): Readonly<Record<string, string>> {
  return Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/**
 * Sends a plain response on an upgrade request. Node has detached the connection, so it must be assigned to
 * the response first. A body that is complete has its length: websocket-client of Python, and with it the
 * official client, reads the reason of a refused handshake only then.
 */
async function answer(incoming: IncomingMessage, socket: Socket, response: Response): Promise<void> {
  // A response on a closed connection would never finish.
  if (socket.destroyed) return void (await response.body?.cancel());
  const outgoing = new ServerResponse(incoming);
  outgoing.shouldKeepAlive = false;
  outgoing.assignSocket(socket);
  outgoing.setHeaders(response.headers);
  if (response instanceof WholeAnswer) {
    outgoing.writeHead(response.status, { 'content-length': Buffer.byteLength(response.whole) });
    outgoing.end(response.whole);
    socket.end();
    return;
  }
  outgoing.writeHead(response.status);
  if (response.body) await pipeline(Readable.fromWeb(response.body as WebStream<Uint8Array>), outgoing);
  else outgoing.end();
  socket.end();
}

function agree(socket: Socket, { headers }: UpgradedConnection): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write(['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n'));
}
