/** A gRPC server on a Unix socket of this machine, for calls of one message for another. */
import { lstat, rm } from 'node:fs/promises';
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import { FrameReader } from './frames.ts';
import { GrpcError, type StatusName, statusNames } from './status.ts';

/**
 * Takes a message and returns the answer with its head (frames.ts). An error that it throws becomes the
 * call's status: UNKNOWN, except for a GrpcError.
 */
export type UnaryMethod = (message: Buffer) => Promise<Buffer>;

export interface ServerOptions {
  /** Path of the socket, which only its owner can use. */
  readonly path: string;
  /** Methods by `/SERVICE/METHOD`. */
  readonly methods: Readonly<Record<string, UnaryMethod>>;
  /** Maximum bytes of a message from a client. */
  readonly maxMessageBytes: number;
}

export interface UnaryServer {
  /** Closes the server: active calls are cut off, and the socket is removed. */
  close(): Promise<void>;
}

/**
 * Starts a server; resolves when it accepts calls. An existing socket without a server is removed; rejects
 * when another program serves it, or when the path is no socket.
 */
export async function serveUnary(options: ServerOptions): Promise<UnaryServer> {
  const { path } = options;
  await requireUnused(path);
  await rm(path, { force: true });
  const sessions = new Set<{ destroy(): void }>();
  const server = createServer({ settings: { enableConnectProtocol: false } });
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    // A client that disconnects during a call is no error of the server.
    session.on('error', () => undefined);
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => answer(options, stream, headers));
  await listening(server, path);
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

function listening(server: Http2Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    withUmask(0o177, () =>
      server.listen(path, () => {
        server.off('error', reject);
        server.on('error', () => undefined);
        resolve();
      }),
    );
  });
}

/**
 * Calls `act`, which makes files before it returns, with another file mode creation mask: a socket whose mode
 * is set after it was made could be used by others for a moment.
 */
function withUmask(mask: number, act: () => unknown): void {
  const before = process.umask(mask);
  try {
    act();
  } finally {
    process.umask(before);
  }
}

/** Removes the socket that a killed server left; one that is served stays. */
export async function removeUnservedSocket(path: string): Promise<void> {
  const there = await whatIsAt(path);
  if (there === 'an unserved socket') await rm(path, { force: true });
}

async function requireUnused(path: string): Promise<void> {
  const there = await whatIsAt(path);
  if (there === 'no socket') throw new Error(`${path} is no socket: move it away`);
  if (there === 'a served socket') throw new Error(`${path} is served by another program`);
}

async function whatIsAt(
  path: string,
): Promise<'nothing' | 'no socket' | 'a served socket' | 'an unserved socket'> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!found) return 'nothing';
  if (!found.isSocket()) return 'no socket';
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (what: 'a served socket' | 'an unserved socket') => {
      socket.destroy();
      resolve(what);
    };
    socket.once('connect', () => end('a served socket'));
    socket.once('error', () => end('an unserved socket'));
  });
}

function answer(options: ServerOptions, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const fail = (status: StatusName, message: string) => {
    if (stream.destroyed || stream.headersSent) return;
    stream.respond(
      {
        ':status': 200,
        'content-type': 'application/grpc',
        'grpc-status': String(statusNames.indexOf(status)),
        'grpc-message': encodeURIComponent(message),
      },
      { endStream: true },
    );
  };
  stream.on('error', () => undefined);
  const path = headers[':path'] ?? '';
  const method = Object.hasOwn(options.methods, path) ? options.methods[path] : undefined;
  if (!method) {
    fail('UNIMPLEMENTED', `unknown method ${path}`);
    return;
  }
  const frames = new FrameReader(options.maxMessageBytes);
  const messages: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => {
    try {
      messages.push(...frames.push(chunk));
      if (messages.length > 1) fail('INVALID_ARGUMENT', 'more than one message');
    } catch (error) {
      failWith(fail, error);
    }
  });
  stream.once('end', () => {
    const [message] = messages;
    if (stream.headersSent) return;
    if (!message) fail('INVALID_ARGUMENT', 'no message');
    else
      method(message).then(
        (frame) => respond(stream, frame),
        (error) => failWith(fail, error),
      );
  });
}

function failWith(fail: (status: StatusName, message: string) => void, error: unknown): void {
  if (error instanceof GrpcError) fail(error.status, error.details);
  else fail('UNKNOWN', error instanceof Error ? error.message : String(error));
}

function respond(stream: ServerHttp2Stream, frame: Buffer): void {
  if (stream.destroyed) return;
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(frame);
}
