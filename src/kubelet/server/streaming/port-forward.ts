/** Forwards ports in three forms: SPDY/3.1, SPDY/3.1 inside a WebSocket, and pairs of WebSocket channels. */
import type { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Clock, Timer } from '../../../base/clock.ts';
import { errorMessage } from '../../../base/log.ts';
import { ChannelStream } from '../../../streams/channels.ts';
import { SpdyConnection, type SpdyStream } from '../../../streams/spdy-connection.ts';
import { clientPatienceMs } from './command-session.ts';
import { hangUp } from './hang-up.ts';
import { acceptChannels, type Upgrade } from './websocket.ts';

/**
 * Connects a stream to a port of the pod until either side is done; rejects with a message of one line that
 * has the cause.
 */
export type Forward = (port: number, stream: Duplex, signal: AbortSignal) => Promise<void>;

interface Pair {
  data?: SpdyStream;
  error?: SpdyStream;
}

/**
 * Forwards until the client hangs up or the signal aborts. Two streams with one request id are one
 * connection.
 */
export async function forwardSpdy(
  transport: Duplex,
  forward: Forward,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  const ended = AbortSignal.any([signal, gone.signal]);
  const pairs = new Map<string, Pair>();
  const connections = new Set<Promise<void>>();
  const onStream = (stream: SpdyStream) => {
    const { streamtype, requestid = '' } = stream.headers;
    const pair = pairs.get(requestid) ?? {};
    if ((streamtype !== 'data' && streamtype !== 'error') || pair[streamtype]) {
      return void stream.destroy();
    }
    pair[streamtype] = stream;
    if (pair.data && pair.error) {
      pairs.delete(requestid);
      const connection = forwardPair(pair.data, pair.error, forward, ended);
      connections.add(connection);
      void connection.finally(() => connections.delete(connection));
      return;
    }
    pairs.set(requestid, pair);
    const timer = clock.after(clientPatienceMs, () => {
      if (pairs.get(requestid) !== pair) return;
      pairs.delete(requestid);
      stream.destroy();
    });
    stream.once('close', () => timer.cancel());
  };
  const stop = () => transport.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await new SpdyConnection(transport, onStream).run();
  } finally {
    signal.removeEventListener('abort', stop);
    gone.abort();
    await Promise.all(connections);
    await hangUp(transport, clock);
  }
}

async function forwardPair(
  data: SpdyStream,
  error: SpdyStream,
  forward: Forward,
  signal: AbortSignal,
): Promise<void> {
  try {
    await forward(portOf(data.headers.port), data, signal);
  } catch (cause) {
    // The client kubectl ends all forwarding after an error; a local client of kubectl that hung up is not an
    // error.
    if (!data.destroyed) error.write(errorMessage(cause));
    data.end();
  }
  error.end();
  error.resume();
  data.resume();
  await Promise.allSettled([finished(error, { readable: false }), finished(data, { readable: false })]);
  error.destroy();
  data.destroy();
}

function portOf(text: string | undefined): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port <= 0xffff) return port;
  throw new Error(`${JSON.stringify(text ?? '')} is not a port`);
}

/** Milliseconds during which a pod that has closed its side may still read the client's data. */
const lingerMs = 1000;

/**
 * Forwards channels: 2i and 2i+1 are data and errors of the i-th port; the first message on each contains the
 * port. Ends when the client hangs up, the signal aborts, or every port is done. A channel cannot be half
 * closed, so a port is done when its pod's side has ended.
 */
export async function forwardChannels(
  upgrade: Upgrade,
  protocol: { readonly protocol: string; readonly base64: boolean },
  ports: readonly number[],
  forward: Forward,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const socket = await acceptChannels(upgrade, protocol);
  const streams = ports.map((_, index) => new ChannelStream(socket, 2 * index));
  socket.listen((channel, data) => streams[channel / 2]?.deliver(data));
  const gone = new AbortController();
  void socket.closed.then(() => gone.abort());
  const stop = () => socket.terminate();
  signal.addEventListener('abort', stop, { once: true });
  const one = async (stream: ChannelStream, index: number) => {
    const port = ports[index] ?? 0;
    const name = Buffer.alloc(2);
    name.writeUInt16LE(port);
    socket.send(2 * index, name);
    socket.send(2 * index + 1, name);
    const over = new AbortController();
    let linger: Timer | undefined;
    // The pod's side has ended and its data has been sent: the client's side ends too.
    stream.once('finish', () => {
      stream.deliver(undefined);
      linger = clock.after(lingerMs, () => over.abort());
    });
    try {
      await forward(port, stream, AbortSignal.any([signal, gone.signal, over.signal]));
      await finished(stream, { readable: false });
    } catch (error) {
      if (!gone.signal.aborted && !over.signal.aborted) socket.send(2 * index + 1, errorMessage(error));
    } finally {
      linger?.cancel();
    }
  };
  try {
    await Promise.all(streams.map(one));
  } finally {
    signal.removeEventListener('abort', stop);
    await socket.close();
    for (const stream of streams) stream.destroy();
  }
}
