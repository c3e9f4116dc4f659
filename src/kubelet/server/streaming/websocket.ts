/** WebSocket connections through ws; no other file here uses that library. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { ChannelSocket } from '../../../streams/channels.ts';
import { RequestError } from '../plan/log-request.ts';

/** A request to become a WebSocket, as Node's server passes it. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Data that arrived after the request. */
  readonly head: Buffer;
}

/** Maximum bytes of a client's message; clients send 32 KiB or less at a time. */
const maxMessageLength = 4 * 1024 * 1024;

/**
 * Answers 101 with that subprotocol ('' for none). ws would reject a name with a slash, which port-forward's
 * has, so the header is removed before ws reads it. Rejects with RequestError for a request that is not a
 * valid WebSocket request.
 */
function accept({ request, socket, head }: Upgrade, protocol: string): Promise<WebSocket> {
  delete request.headers['sec-websocket-protocol'];
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageLength,
  });
  if (protocol) server.on('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  return new Promise((resolve, reject) => {
    server.on('wsClientError', (error) => reject(new RequestError(400, error.message)));
    server.handleUpgrade(request, socket, head, (opened) => {
      // No listener for messages is registered yet.
      opened.pause();
      opened.on('error', () => undefined);
      resolve(opened);
    });
  });
}

/** Returns the messages as one stream of bytes, without their boundaries. */
export async function acceptByteStream(upgrade: Upgrade, protocol: string): Promise<Duplex> {
  return createWebSocketStream(await accept(upgrade, protocol));
}

export interface MessageSender {
  /** Resolves when the message has been written. Rejects when the client has disconnected. */
  send(message: Buffer | string): Promise<void>;
  /** Sends the close frame, and resolves when the connection is closed. */
  close(): Promise<void>;
}

/** Accepts a WebSocket that only sends; data from the client is read and dropped. */
export async function acceptSender(upgrade: Upgrade, protocol: string): Promise<MessageSender> {
  const socket = await accept(upgrade, protocol);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.resume();
  return {
    send: (message) =>
      new Promise((resolve, reject) => {
        socket.send(message, (error) => (error ? reject(error) : resolve()));
      }),
    close() {
      socket.close();
      return closed;
    },
  };
}

/** Accepts a WebSocket with channels. */
export async function acceptChannels(
  upgrade: Upgrade,
  { protocol, base64 }: { readonly protocol: string; readonly base64: boolean },
): Promise<ChannelSocket> {
  return new ChannelSocket(await accept(upgrade, protocol), base64);
}
