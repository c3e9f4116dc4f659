/** WebSockets of the client, based on ws: the only file of `ctl` that imports it. */
import { Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createWebSocketStream, WebSocket } from 'ws';
import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Dialing } from '../../client/https-transport.ts';
import { responseError } from '../../client/response-error.ts';
import { ChannelSocket } from '../../streams/channels.ts';

export interface OpenOptions {
  readonly dialing: Dialing;
  /** The only subprotocol that is offered. */
  readonly protocol: string;
  readonly clock: Clock;
  /** Closes the connection when it aborts. */
  readonly signal: AbortSignal;
}

/** Timeout in milliseconds for the server's answer. */
const answerTimeout = 65_000;
/** kubectl's values: the connection is closed after twelve pings in a row without an answer. */
const pingEvery = 5_000;
const maxUnanswered = 12;

/**
 * Resolves to the messages by channel; nothing is read before a listener is registered. Rejects with
 * StatusError or TransportError.
 */
export async function openChannels(options: OpenOptions): Promise<ChannelSocket> {
  return new ChannelSocket(await open(options));
}

/** Resolves to the messages as one stream of bytes. Rejects with StatusError or TransportError. */
export async function openByteStream(options: OpenOptions): Promise<Duplex> {
  const socket = await open(options);
  const stream = createWebSocketStream(socket);
  socket.resume();
  return stream;
}

/** Returns an agent that connects through the proxy. */
const proxyAgent = ({ url, tls }: Dialing) =>
  url.startsWith('wss:')
    ? new HttpsAgent({ ...tls, keepAlive: false })
    : new HttpAgent({ ...tls, keepAlive: false });

/**
 * ws rejects subprotocols with a slash in their name, such as that of port-forward, so the subprotocol is
 * offered and compared here and hidden from ws.
 */
function open({ dialing, protocol, clock, signal }: OpenOptions): Promise<WebSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  let agreed: string | undefined;
  const socket = new WebSocket(dialing.url, {
    ...dialing.tls,
    ...(dialing.tls.proxyEnv && { agent: proxyAgent(dialing) }),
    headers: { ...dialing.headers, 'sec-websocket-protocol': protocol },
    perMessageDeflate: false,
    handshakeTimeout: answerTimeout,
    finishRequest: (request) => {
      request.prependListener('upgrade', ({ headers }: IncomingMessage) => {
        agreed = headers['sec-websocket-protocol'];
        delete headers['sec-websocket-protocol'];
      });
      request.end();
    },
  });
  const unlink = onAbort(signal, () => {
    socket.terminate();
    reject(signal.reason);
  });
  socket.once('close', unlink);
  socket.on('error', (error) => reject(dialing.failed(error)));
  socket.once('unexpected-response', (_request, response) => {
    const what = `GET ${new URL(dialing.url).pathname}`;
    text(response).then(
      (body) => reject(responseError(what, response.statusCode ?? 0, body)),
      (error) => reject(dialing.failed(error)),
    );
  });
  socket.once('open', () => {
    // No listener for messages is registered yet.
    socket.pause();
    if (agreed !== protocol) {
      socket.terminate();
      return reject(new Error(`the server does not speak ${protocol}`));
    }
    keepPinging(socket, clock);
    resolve(socket);
  });
  return promise;
}

/** Sends pings, and closes a connection that no longer answers them, so that its reader sees an end. */
function keepPinging(socket: WebSocket, clock: Clock): void {
  let unanswered = 0;
  socket.on('pong', () => {
    unanswered = 0;
  });
  const ping = () => {
    // Pongs are not received while reading is paused.
    unanswered = socket.isPaused ? 0 : unanswered + 1;
    if (unanswered > maxUnanswered) return socket.terminate();
    socket.ping();
    timer = clock.after(pingEvery, ping);
  };
  let timer = clock.after(pingEvery, ping);
  socket.once('close', () => timer.cancel());
}
