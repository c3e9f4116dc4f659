/** WebSockets of a client, by way of ws: the only file of `ctl` that knows it. */
import type { IncomingMessage } from 'node:http';
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
  /** Cuts the connection off. */
  readonly signal: AbortSignal;
}

/** Milliseconds the server gets to answer. */
const answerTimeout = 65_000;
/** As kubectl has them: a server that answers none of twelve pings in a row is gone. */
const pingEvery = 5_000;
const mostUnanswered = 12;

/** Messages by channel; nothing is read until somebody listens. Rejects with StatusError or TransportError. */
export async function openChannels(options: OpenOptions): Promise<ChannelSocket> {
  return new ChannelSocket(await open(options));
}

/** The messages as one stream of bytes. Rejects with StatusError or TransportError. */
export async function openByteStream(options: OpenOptions): Promise<Duplex> {
  const socket = await open(options);
  const stream = createWebSocketStream(socket);
  socket.resume();
  return stream;
}

/** ws takes no name with a slash in it, which port-forward's has: offered and compared here, it gets to see none. */
function open({ dialing, protocol, clock, signal }: OpenOptions): Promise<WebSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  let agreed: string | undefined;
  const socket = new WebSocket(dialing.url, {
    ...dialing.tls,
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
    keepAsking(socket, clock);
    resolve(socket);
  });
  return promise;
}

/** Closes a connection that is broken without an error, so that its user notices. */
function keepAsking(socket: WebSocket, clock: Clock): void {
  let unanswered = 0;
  socket.on('pong', () => {
    unanswered = 0;
  });
  const ask = () => {
    // While nothing is read no answer can be seen.
    unanswered = socket.isPaused ? 0 : unanswered + 1;
    if (unanswered > mostUnanswered) return socket.terminate();
    socket.ping();
    timer = clock.after(pingEvery, ask);
  };
  let timer = clock.after(pingEvery, ask);
  socket.once('close', () => timer.cancel());
}
