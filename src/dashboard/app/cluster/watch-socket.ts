/**
 * The events of a watch by WebSocket: without HTTP/2, browsers open at most six connections to a server, but
 * many WebSockets.
 */
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { WatchEvent } from '../../../client/client.ts';
import { watchEventOf } from '../../../client/watch-event.ts';
import { openStream } from './request.ts';
import { type WatchRequest, watchLines } from './watch-lines.ts';

/** A browser cannot send the header Accept with a WebSocket: the server reads it from a subprotocol. */
const acceptProtocol = (accept: string): string =>
  `minik8s.accept.${btoa(accept).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;

/** Yields a watch's events until the server ends it; if the signal aborts, it ends without an error. */
export async function* watchSocket<T extends KubeObject>(
  request: WatchRequest,
): AsyncGenerator<WatchEvent<T>> {
  const { path, accept, signal, onOpen } = request;
  if (signal.aborted) return;
  const socket = openStream(path, ['watch.minik8s', acceptProtocol(accept)]);
  const abort = () => socket.close();
  signal.addEventListener('abort', abort, { once: true });
  const messages = messagesOf(socket, onOpen);
  try {
    for await (const message of messages) yield watchEventOf<T>(message, `GET ${path}`);
    if (signal.aborted || messages.hasEnded()) return;
    if (messages.wasOpen()) throw new Error('the watch was cut');
    // A browser hides why a WebSocket was refused; the same request without a WebSocket gets the reason.
    yield* watchLines<T>(request);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.close();
  }
}

/** Close code of a watch that ended by itself. */
const normalEnd = 1000;

function messagesOf(socket: WebSocket, onOpen: (() => void) | undefined) {
  const queue: string[] = [];
  let state: 'connecting' | 'open' | 'ended' | 'cut' | 'refused' = 'connecting';
  let wake: () => void = () => undefined;
  socket.addEventListener('open', () => {
    state = 'open';
    onOpen?.();
  });
  socket.addEventListener('message', ({ data }) => {
    queue.push(String(data));
    wake();
  });
  socket.addEventListener('close', ({ code }) => {
    state = state === 'connecting' ? 'refused' : code === normalEnd ? 'ended' : 'cut';
    wake();
  });
  return {
    hasEnded: () => state === 'ended',
    wasOpen: () => state !== 'refused',
    async *[Symbol.asyncIterator](): AsyncGenerator<string> {
      for (;;) {
        for (let message = queue.shift(); message !== undefined; message = queue.shift()) yield message;
        if (state !== 'connecting' && state !== 'open') return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
