/** A gRPC client and a server of node:http2, connected by a Unix socket in this process. */
import { on, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createSocketServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClientOptions, GrpcClient } from '../../../src/grpc/client.ts';
import { framed } from '../../../src/grpc/frames.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

/** Returns the frame of a message: its bytes with their head. */
export const frameOf = (message: string | Buffer): Buffer =>
  framed(message.length, (writer) => writer.append(Buffer.from(message)));

/** A call as the server received it. */
export interface ReceivedCall {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly session: ServerHttp2Session;
}

/** Answers a call with messages and a status in the trailers. */
export function answerWith(stream: ServerHttp2Stream, frames: readonly Buffer[], status = '0'): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status, 'grpc-message': 'why' }));
  for (const frame of frames) stream.write(frame);
  stream.end();
}

export class Rig implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly sessions = new Set<ServerHttp2Session>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'grpc-'));
  readonly #server: Http2Server = createServer();
  readonly #received = on(this.#server, 'stream');
  readonly #clients: GrpcClient[] = [];
  readonly #ends: (() => void)[] = [];

  get path(): string {
    return join(this.#folder, 'socket');
  }

  /** Starts an HTTP/2 server, whose calls `nextCall` returns. */
  static async withServer(): Promise<Rig> {
    const rig = new Rig();
    rig.#server.on('session', (session) => {
      rig.sessions.add(session);
      session.on('error', () => undefined);
      session.once('close', () => rig.sessions.delete(session));
    });
    rig.#server.on('stream', (stream: ServerHttp2Stream) => stream.on('error', () => undefined));
    rig.#server.listen(rig.path);
    await once(rig.#server, 'listening');
    return rig;
  }

  /** Starts a server of plain sockets. */
  static async withSockets(take: (socket: Socket) => void): Promise<Rig> {
    const rig = new Rig();
    const sockets = new Set<Socket>();
    const server = createSocketServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      take(socket);
    });
    rig.#ends.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    server.listen(rig.path);
    await once(server, 'listening');
    return rig;
  }

  client(options: Partial<ClientOptions> = {}): GrpcClient {
    const client = new GrpcClient({
      endpoint: `unix:${this.path}`,
      tls: {},
      keepaliveMs: 10_000,
      connectMs: 5000,
      clock: this.clock,
      maxMessageBytes: 16 << 20,
      ...options,
    });
    this.#clients.push(client);
    return client;
  }

  /** Resolves to the next call that reaches the server. */
  async nextCall(): Promise<ReceivedCall> {
    const { value } = await this.#received.next();
    const [stream, headers] = value as [ServerHttp2Stream, IncomingHttpHeaders];
    const { session } = stream;
    if (!session) throw new Error('the stream has no session any more');
    return { stream, headers, session: session as ServerHttp2Session };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.destroy();
    for (const session of this.sessions) session.destroy();
    for (const end of this.#ends) end();
    await this.#received.return?.();
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
