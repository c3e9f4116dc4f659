/**
 * The connection to one gRPC server. It is made when it is needed, and again after it was lost. There is at
 * most one, except while an old one completes its calls after the server's GOAWAY.
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
  /** TLS options for https. */
  readonly tls: TlsOptions;
  /**
   * Interval in milliseconds of probing a connection with active calls; it is closed when no answer arrives
   * within half of this time.
   */
  readonly keepaliveMs: number;
  /** Timeout of connecting, in milliseconds. */
  readonly connectMs: number;
  /** The client's User-Agent; default: none. */
  readonly userAgent?: string;
  readonly clock: Clock;
}

/**
 * Back-off after a failed connection: in that time calls fail with the same error and no connection is made.
 */
const retry = { initialMs: 50, maxMs: 1000 };
/**
 * Window sizes of one answer and of all together: large enough that a long answer does not wait for each 64
 * KiB of it.
 */
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

  /** True once an HTTP/2 server has answered. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  /**
   * Opens a stream for one call. Throws GrpcError when no connection can be made now; the stream fails when
   * the connection fails later.
   */
  open(path: string, headers: Readonly<Record<string, string>>): ClientHttp2Stream {
    return this.#connection().open(path, headers);
  }

  /** Lets active calls end; no more can be made. */
  close(): void {
    this.#closed = true;
    this.#current?.leave();
  }

  /** Makes active calls fail; no more can be made. */
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
  /** Called when the connection could not be made. */
  onFailure(error: unknown): void;
  /** Called when no more calls can be made on the connection. */
  onGone(): void;
}

class Connection {
  readonly #session: ClientHttp2Session;
  readonly #options: ChannelOptions;
  readonly #events: ConnectionEvents;
  /** Number of active calls. */
  #calls = 0;
  #isLeft = false;
  #socket: Duplex | undefined;
  /** Timer of connecting at first, then of the next probe, then of its answer. */
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
    // The server's settings confirm the connection: a port that accepts connections may have no HTTP/2 server
    // behind it.
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
      // Every call uses a stream id, and the ids of a connection are exhausted after about a thousand million
      // calls.
      if (error.code === 'ERR_HTTP2_OUT_OF_STREAMS') this.leave();
    });
    stream.once('close', () => {
      if (--this.#calls === 0 && this.#isLeft) this.end();
    });
    return stream;
  }

  /** Accepts no more calls; ends with the last active call. */
  leave(): void {
    this.#events.onGone();
    this.#isLeft = true;
    if (this.#calls === 0) this.end();
  }

  /** Ends the connection at once, without waiting for a server that no longer responds. */
  end(error?: Error): void {
    this.#session.destroy(error);
    this.#socket?.destroy();
  }

  #probeLater(): void {
    this.#timer = this.#options.clock.after(this.#options.keepaliveMs, () => this.#probe());
  }

  #probe(): void {
    // etcd closes connections that are probed while they have no calls.
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
    // Most of a session's memory is data to be sent, which the number of active calls bounds.
    maxSessionMemory: Number.MAX_SAFE_INTEGER,
  };
  if (endpoint.startsWith('https:')) return connect(endpoint, { ...options, ...tls });
  if (!endpoint.startsWith('unix:')) return connect(endpoint, options);
  const path = endpoint.slice('unix:'.length);
  return connect('http://localhost', { ...options, createConnection: () => connectSocket({ path }) });
}

/** Returns why a call or a connection failed, in one line. */
export function describe(error: unknown): string {
  // A call that is queued until the connection is open fails with an error whose cause is the connection's.
  if (error instanceof Error && error.cause !== undefined) return describe(error.cause);
  // The error of a name with several addresses has one error per address and no message.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(describe).join(', ');
  return error instanceof Error ? error.message : String(error);
}
