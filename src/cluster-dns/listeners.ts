/** The sockets for clients: a datagram socket and a listener for connections at each address. */
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { errorMessage, type Logger } from '../base/log.ts';
import { OpenSockets } from '../http/open-sockets.ts';
import { Frames, frame } from './frames.ts';
import type { Responder } from './responder.ts';

export interface ListenOptions {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly respond: Responder;
  readonly log: Logger;
}

export interface Listening {
  /** Rejects when a socket fails; never resolves. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** Size in bytes: bursts wait in the kernel while this process does other work. */
const receiveBuffer = 4 * 1024 * 1024;
const connectionLimit = 128;
/** RFC 7766 recommends "a few seconds". */
const idleMs = 10_000;

/**
 * Resolves when all of them listen; otherwise closes them and rejects with a message of one line that
 * describes what to do.
 */
export async function listenDns({ addresses, port, respond, log }: ListenOptions): Promise<Listening> {
  await using opened = new AsyncDisposableStack();
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  for (const address of addresses) {
    const socket = datagramSocket(address, respond, log);
    opened.defer(async () => void (await new Promise<void>((resolve) => socket.close(() => resolve()))));
    socket.bind({ address, port, exclusive: true });
    await ready(socket, address, port);
    socket.on('error', reject);

    const server = connectionServer(address, respond, log);
    server.listen({ host: address, port, exclusive: true });
    await ready(server, address, port);
    opened.defer(() => closeServer(server));
    server.on('error', reject);
  }
  const all = opened.move();
  return { failed, close: () => all.disposeAsync() };
}

async function ready(socket: DatagramSocket | Server, address: string, port: number): Promise<void> {
  try {
    await once(socket, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(
      `port ${port} of ${address} is taken by another process (ss -lnp sport = :${port} names it); configure that process to listen on specific addresses, not on all`,
    );
  }
}

function datagramSocket(own: string, respond: Responder, log: Logger): DatagramSocket {
  const socket = createSocket({ type: 'udp4', recvBufferSize: receiveBuffer });
  socket.on('message', (message, { address, port }) => {
    const answer = async () => {
      const reply = await respond(message, 'udp', own);
      // Errors of a client that has left are ignored; the socket's own failures arrive as its error event.
      if (reply) socket.send(reply, port, address, () => undefined);
    };
    answer().catch((error) => log.error('a DNS query was not answered', { error: errorMessage(error) }));
  });
  return socket;
}

const open = new WeakMap<Server, OpenSockets>();

function connectionServer(own: string, respond: Responder, log: Logger): Server {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.setTimeout(idleMs, () => socket.destroy());
    serve(socket, own, respond).catch((error) => {
      log.debug('a connection ended early', { error: errorMessage(error) });
      socket.destroy();
    });
  });
  server.maxConnections = connectionLimit;
  open.set(server, new OpenSockets(server));
  return server;
}

/** Answers one query after the other: a client that sends faster than it is answered has to wait. */
async function serve(socket: Socket, own: string, respond: Responder): Promise<void> {
  const frames = new Frames();
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    for (const message of frames.push(chunk)) {
      const reply = await respond(message, 'tcp', own);
      if (reply && !socket.write(frame(reply))) await once(socket, 'drain');
    }
  }
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  open.get(server)?.destroyAll();
  await closed;
}
