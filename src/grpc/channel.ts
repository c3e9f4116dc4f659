/**
 * The connection to one server of gRPC. It is made when it is needed, and again when it was lost; there is never more than
 * one, but for what goes on while the server takes leave of it.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type SecureClientSessionOptions,
} from 'node:http2';
import { connect as connectSocket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Backoff } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { GrpcError } from './status.ts';

export type TlsOptions = Pick<
  SecureClientSessionOptions,
  'ca' | 'cert' | 'key' | 'servername' | 'checkServerIdentity' | 'rejectUnauthorized'
>;

export interface ChannelOptions {
  /** `http://host:port`, `https://host:port` or `unix:/path`. */
  readonly endpoint: string;
  /** For https. */
  readonly tls: TlsOptions;
  /** How often a connection with calls on it is probed; it is given up after half as long without an answer. */
  readonly keepaliveMs: number;
  /** How long connecting may take. */
  readonly connectMs: number;
  /** How the client calls itself; default: not at all. */
  readonly userAgent?: string;
  readonly clock: Clock;
}

/** After a connection that failed, for that long calls fail for the same reason and none is made. */
const retry = { initialMs: 50, maxMs: 1000 };
/** What may be under way of one answer, and of all together: enough that a long one does not wait for each 64 KiB of it. */
const streamWindow = 1 << 20;
const connectionWindow = 4 << 20;

export class Channel {
  readonly #options: ChannelOptions;
  readonly #backoff = new Backoff(retry);
  #current: Connection | undefined;
  #failure: { readonly error: unknown; readonly until: number } | undefined;
  #wasReady = false;
  #closed = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  /** A server of HTTP/2 has answered, at least once. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  /** A stream for one call. Throws GrpcError when there can be no connection now; the stream fails when there will be none. */
  open(path: string, headers: Readonly<Record<string, string>>): ClientHttp2Stream {
    return this.#connection().open(path, headers);
  }

  /** Calls that are under way are let end; no more can be made. */
  close(): void {
    this.#closed = true;
    this.#current?.leave();
  }

  /** Calls that are under way fail. */
  destroy(): void {
    this.#closed = true;
    this.#current?.end();
  }

  #connection(): Connection {
    if (this.#closed) throw new GrpcError('UNAVAILABLE', 'the connection is closed');
    if (this.#current?.isOpen) return this.#current;
    if (this.#failure && this.#options.clock.monotonic() < this.#failure.until)
      throw new GrpcError('UNAVAILABLE', describe(this.#failure.error));
    const connection = new Connection(this.#options, {
      onReady: () => {
        this.#backoff.reset();
        this.#failure = undefined;
        this.#wasReady = true;
      },
      onFailure: (error) => {
        this.#failure = { error, until: this.#options.clock.monotonic() + this.#backoff.next() };
      },
      onGone: () => {
        if (this.#current === connection) this.#current = undefined;
      },
    });
    this.#current = connection;
    return connection;
  }
}

interface ConnectionEvents {
  onReady(): void;
  /** It could not be made. */
  onFailure(error: unknown): void;
  /** No more calls can be made on it. */
  onGone(): void;
}

class Connection {
  readonly #session: ClientHttp2Session;
  readonly #options: ChannelOptions;
  readonly #events: ConnectionEvents;
  /** How many calls are under way. */
  #calls = 0;
  #isLeft = false;
  #socket: Duplex | undefined;
  /** First for the connection, then until the next probe, then for its answer. */
  #timer: Timer;

  constructor(options: ChannelOptions, events: ConnectionEvents) {
    this.#options = options;
    this.#events = events;
    const session = openSession(options);
    this.#session = session;
    this.#timer = options.clock.after(options.connectMs, () =>
      this.end(new Error(`no connection in ${options.connectMs} ms`)),
    );
    let failure: unknown = new Error('the connection was closed');
    session.once('connect', (_, socket) => {
      this.#socket = socket;
      session.setLocalWindowSize(connectionWindow);
    });
    // Its first word: whatever takes connections may have no server behind it.
    session.once('remoteSettings', () => {
      this.#timer.cancel();
      failure = undefined;
      events.onReady();
      this.#probeLater();
    });
    session.on('error', (error) => {
      failure &&= error;
    });
    session.once('goaway', () => this.leave());
    session.once('close', () => {
      this.#timer.cancel();
      if (failure !== undefined) events.onFailure(failure);
      events.onGone();
    });
  }

  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  open(path: string, headers: Readonly<Record<string, string>>): ClientHttp2Stream {
    const stream = this.#session.request({
      ':method': 'POST',
      ':path': path,
      te: 'trailers',
      'content-type': 'application/grpc',
      ...(this.#options.userAgent !== undefined && { 'user-agent': this.#options.userAgent }),
      ...headers,
    });
    this.#calls++;
    stream.once('error', (error: NodeJS.ErrnoException) => {
      // Every call has a number, and they are used up after a thousand million.
      if (error.code === 'ERR_HTTP2_OUT_OF_STREAMS') this.leave();
    });
    stream.once('close', () => {
      if (--this.#calls === 0 && this.#isLeft) this.end();
    });
    return stream;
  }

  /** It ends with the last call that is under way. */
  leave(): void {
    this.#events.onGone();
    this.#isLeft = true;
    if (this.#calls === 0) this.end();
  }

  /** At once: a server that says nothing any more is not waited for. */
  end(error?: Error): void {
    this.#session.destroy(error);
    this.#socket?.destroy();
  }

  #probeLater(): void {
    this.#timer = this.#options.clock.after(this.#options.keepaliveMs, () => this.#probe());
  }

  #probe(): void {
    // etcd ends connections that are probed while there is nothing on them.
    if (this.#calls === 0) {
      this.#probeLater();
      return;
    }
    const timer = this.#options.clock.after(Math.ceil(this.#options.keepaliveMs / 2), () =>
      this.end(new Error('the connection does not answer')),
    );
    this.#timer = timer;
    this.#session.ping((error) => {
      timer.cancel();
      if (!error && !this.#session.destroyed) this.#probeLater();
    });
  }
}

function openSession({ endpoint, tls }: ChannelOptions): ClientHttp2Session {
  const options = {
    settings: { enablePush: false, initialWindowSize: streamWindow },
    // Of a session's memory most is what it was given to send: what may be under way bounds that.
    maxSessionMemory: Number.MAX_SAFE_INTEGER,
  };
  if (endpoint.startsWith('https:')) return connect(endpoint, { ...options, ...tls });
  if (!endpoint.startsWith('unix:')) return connect(endpoint, options);
  const path = endpoint.slice('unix:'.length);
  return connect('http://localhost', { ...options, createConnection: () => connectSocket({ path }) });
}

/** In one line, why a call or a connection failed. */
export function describe(error: unknown): string {
  // What a call fails with that waited for the connection.
  if (error instanceof Error && error.cause !== undefined) return describe(error.cause);
  // A name with several addresses fails with an error for each of them, and with no message.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(describe).join(', ');
  return error instanceof Error ? error.message : String(error);
}
