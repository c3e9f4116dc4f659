/**
 * Sends one query to one server: as a datagram from a port of its own, and over a connection when the answer
 * did not fit.
 */
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { onAbort } from '../base/abort.ts';
import { Frames, frame } from './frames.ts';
import { readReply, type UpstreamReply } from './packet.ts';

export interface Server {
  readonly address: string;
  readonly port: number;
}

export interface Request {
  readonly id: number;
  /** The message, and the question in it. */
  readonly message: Buffer;
  readonly question: Buffer;
}

/** Resolves with the server's answer to this query; rejects when there is none or the signal aborts first. */
export type Exchange = (server: Server, request: Request, signal: AbortSignal) => Promise<UpstreamReply>;

export const systemExchange: Exchange = async (server, request, signal) => {
  const reply = await byDatagram(server, request, signal);
  return reply.truncated ? byConnection(server, request, signal) : reply;
};

/**
 * Queries by a datagram. The socket is connected: the kernel drops datagrams of other senders, and reports
 * when nothing listens on the port.
 */
function byDatagram(
  { address, port }: Server,
  request: Request,
  signal: AbortSignal,
): Promise<UpstreamReply> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    const settle = (how: () => void) => {
      forget();
      socket.close();
      how();
    };
    let forget = () => {};
    forget = onAbort(signal, () => settle(() => reject(signal.reason)));
    socket.once('error', (error) => settle(() => reject(error)));
    socket.on('message', (message) => {
      const reply = readReply(message, request.id, request.question);
      if (reply) settle(() => resolve(reply));
    });
    socket.connect(port, address, () => {
      if (!signal.aborted) socket.send(request.message);
    });
  });
}

function byConnection(
  { address, port }: Server,
  request: Request,
  signal: AbortSignal,
): Promise<UpstreamReply> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const socket = connect(port, address);
    const frames = new Frames();
    const settle = (how: () => void) => {
      forget();
      socket.destroy();
      how();
    };
    let forget = () => {};
    forget = onAbort(signal, () => settle(() => reject(signal.reason)));
    socket.once('error', (error) => settle(() => reject(error)));
    socket.once('end', () => settle(() => reject(new Error(`${address} closed the connection`))));
    socket.on('data', (chunk: Buffer) => {
      for (const message of frames.push(chunk)) {
        const reply = readReply(message, request.id, request.question);
        if (reply) return settle(() => resolve({ ...reply, truncated: false }));
      }
    });
    socket.once('connect', () => socket.write(frame(request.message)));
  });
}
