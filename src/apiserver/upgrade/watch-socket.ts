/**
 * A watch as a WebSocket: each event is a text message. Browsers open at most six HTTP/1.1 connections to a
 * server, and a WebSocket is not one of them (upstream: endpoints/handlers/watch.go, HandleWS).
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Sink, Source } from '../transport/pushed-body.ts';

/** Maximum length of a client's message in bytes; messages of clients are ignored. */
const maxMessageLength = 4096;

/** A request to become a WebSocket. */
export interface WatchUpgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** Data that arrived after the request. */
  readonly head: Buffer;
  /** Subprotocols that the client offers; the first is used. */
  readonly protocols: readonly string[];
}

/** Sends the events, each of which ends with a line feed. Resolves when the connection is closed. */
export async function serveWatchSocket({ request, socket, head, protocols }: WatchUpgrade, source: Source) {
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const [protocol] = protocols;
  if (protocol === undefined) delete request.headers['sec-websocket-protocol'];
  else request.headers['sec-websocket-protocol'] = protocol;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageLength,
  });
  // A request that is no valid one of a WebSocket is answered with 400, and its connection closed.
  server.handleUpgrade(request, socket, head, (opened) => {
    opened.on('error', () => undefined);
    opened.once('close', () => source.cancel());
    source.begin(new SocketSink(opened));
  });
  await closed;
}

class SocketSink implements Sink {
  readonly #socket: WebSocket;
  /** Resolves when the last message has been written. */
  #written: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  get backlog(): number {
    return this.#socket.bufferedAmount;
  }

  write(piece: Uint8Array): void {
    for (const event of Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString().split('\n'))
      if (event !== '') this.#send(event);
  }

  end(): void {
    this.#socket.close(1000);
  }

  cut(): void {
    this.#socket.terminate();
  }

  room(): Promise<void> {
    return this.#written;
  }

  #send(event: string): void {
    this.#written = new Promise((resolve) => this.#socket.send(event, () => resolve()));
  }
}
