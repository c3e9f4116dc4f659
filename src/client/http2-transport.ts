/**
 * The API over a single connection, for node agents: every request and every watch is a stream of it. Options
 * and errors are those of the HTTPS transport. When a certificate is renewed, later requests use a new
 * connection, and the old connection ends with its last stream.
 */
import * as http2 from 'node:http2';
import { connect } from 'node:tls';
import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { agentProtocol } from '../http/agent-protocol.ts';
import { Http2Liveness } from '../http/http2-liveness.ts';
import {
  brokenOff,
  type HttpsTransportOptions,
  headersOf,
  parseServer,
  tlsOptions,
  translate,
  unreachable,
} from './https-transport.ts';
import type { ApiRequest, ApiResponse, Transport } from './transport.ts';

const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM, NGHTTP2_NO_ERROR } = http2.constants;

export interface Http2TransportOptions extends HttpsTransportOptions {
  /** Interval of pings to the server while requests wait; default 15 s. */
  readonly pingMs?: number;
}

/** Creates a transport; `server` must be an https URL. */
export function createHttp2Transport(options: Http2TransportOptions): Transport {
  return new Http2Transport(options);
}

/** A connection, from the beginning of its handshake to its end. */
interface Connection {
  readonly session: http2.ClientHttp2Session;
  readonly liveness: Http2Liveness;
  /**
   * True once the server's certificate has been checked; until then no part of a request leaves this machine.
   */
  established: boolean;
  /** Reason why the connection ended, if it is known. */
  failure: unknown;
  /** Time of the last read from the connection, by the clock. */
  heard: number;
}

class Http2Transport implements Transport {
  readonly #options: Http2TransportOptions;
  readonly #server: URL;
  readonly #connections = new Set<Connection>();
  readonly #forget: (() => void) | undefined;
  #current: Connection | undefined;
  #closed = false;

  constructor(options: Http2TransportOptions) {
    this.#options = options;
    this.#server = parseServer(options.server);
    this.#forget = options.identity?.onChange(() => {
      this.#current?.session.close();
      this.#current = undefined;
    });
  }

  get host(): string {
    return this.#server.host;
  }

  request(request: ApiRequest): Promise<ApiResponse> {
    if (this.#closed) {
      const why = 'the transport is closed';
      return Promise.reject(unreachable(this.#server, why, 'closed', { unsent: true }));
    }
    if (request.signal?.aborted) return Promise.reject(request.signal.reason);
    const connection = this.#usable();
    const path = `${this.#server.pathname.replace(/\/$/, '')}${request.path}`;
    const headers = { ':method': request.method, ':path': path, ...headersOf(request, this.#options) };
    const stream = connection.session.request(headers, { endStream: request.body === undefined });
    connection.liveness.carries(stream);
    if (request.body !== undefined) stream.end(request.body);
    return new Exchange(stream, connection, request, this.#server, this.#options).answer();
  }

  close(): void {
    this.#closed = true;
    this.#forget?.();
    const reason = unreachable(this.#server, 'the transport was closed', 'closed', { unsent: false });
    for (const connection of this.#connections) end(connection, reason);
  }

  #usable(): Connection {
    const current = this.#current;
    if (current && !current.session.closed && !current.session.destroyed) return current;
    this.#current = this.#open();
    return this.#current;
  }

  #open(): Connection {
    const { clock, pingMs, keepAliveMs = 15_000 } = this.#options;
    const host = this.#server.hostname.replace(/^\[(.*)\]$/, '$1');
    const socket = connect({
      ...tlsOptions(this.#options),
      host,
      port: Number(this.#server.port || 443),
      ALPNProtocols: ['h2', agentProtocol],
    });
    // Keepalive detects a dead connection that is about to end with its last stream and gets no pings any
    // more.
    socket.setKeepAlive(true, keepAliveMs);
    const session = http2.connect(this.#server.origin, { createConnection: () => socket });
    const lost = () => {
      const why = 'the connection went silent';
      end(connection, unreachable(this.#server, why, 'timeout', { unsent: !connection.established }));
    };
    const liveness = new Http2Liveness(session, {
      clock,
      onLost: lost,
      ...(pingMs !== undefined && { pingMs }),
    });
    const connection: Connection = {
      session,
      liveness,
      established: false,
      failure: undefined,
      heard: 0,
    };
    this.#connections.add(connection);
    socket.once('secureConnect', () => {
      connection.established = true;
    });
    const failed = (error: unknown) => {
      connection.failure ??= error;
    };
    socket.on('error', failed);
    session.on('error', failed);
    session.once('close', () => this.#connections.delete(connection));
    return connection;
  }
}

/** Ends a connection and all its streams with the given reason. */
function end(connection: Connection, reason: Error): void {
  connection.failure ??= reason;
  connection.session.destroy(reason);
}

/** A request on its stream. */
class Exchange {
  readonly #stream: http2.ClientHttp2Stream;
  readonly #connection: Connection;
  readonly #request: ApiRequest;
  readonly #server: URL;
  readonly #answerMs: number;
  readonly #clock: Clock;
  readonly #asked: number;
  readonly #release: () => void;
  #late = false;

  constructor(
    stream: http2.ClientHttp2Stream,
    connection: Connection,
    request: ApiRequest,
    server: URL,
    { clock, answerTimeoutMs = 65_000 }: Http2TransportOptions,
  ) {
    this.#stream = stream;
    this.#connection = connection;
    this.#request = request;
    this.#server = server;
    this.#answerMs = answerTimeoutMs;
    this.#clock = clock;
    this.#asked = clock.now();
    const timer = clock.after(answerTimeoutMs, () => this.#giveUp());
    const unlink = request.signal ? onAbort(request.signal, () => stream.close(NGHTTP2_CANCEL)) : () => {};
    stream.once('response', () => timer.cancel());
    this.#release = () => {
      timer.cancel();
      unlink();
    };
    stream.once('close', this.#release);
  }

  answer(): Promise<ApiResponse> {
    const stream = this.#stream;
    return new Promise((resolve, reject) => {
      let error: unknown;
      stream.on('error', (why) => {
        error = why;
      });
      stream.once('close', () => reject(this.#failure(error)));
      stream.once('response', (headers) => {
        this.#connection.heard = this.#clock.now();
        resolve({
          status: Number(headers[':status'] ?? 0),
          header: (name) => {
            const value = headers[name.toLowerCase()];
            return Array.isArray(value) ? value.join(', ') : value;
          },
          body: this.#body(),
        });
      });
    });
  }

  /**
   * Cancels the stream. A connection on which nothing arrived since the request counts as lost: the next
   * request gets a new one.
   */
  #giveUp(): void {
    this.#late = true;
    this.#stream.close(NGHTTP2_CANCEL);
    if (this.#connection.heard < this.#asked) end(this.#connection, this.#tooLate());
  }

  #tooLate(): Error {
    const why = `no answer within ${this.#answerMs / 1000} s`;
    return unreachable(this.#server, why, 'timeout', { unsent: this.#unsent });
  }

  get #unsent(): boolean {
    return !this.#connection.established || this.#stream.rstCode === NGHTTP2_REFUSED_STREAM;
  }

  async *#body(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.#stream) {
        this.#connection.heard = this.#clock.now();
        yield chunk;
      }
    } catch (error) {
      throw this.#cut(error);
    }
    // A truncated stream ends like a complete one; only its error code differs.
    if (this.#stream.rstCode !== NGHTTP2_NO_ERROR || this.#stream.aborted) throw this.#cut(undefined);
  }

  /** Returns the error of a response that has begun: the connection's error if the connection was lost. */
  #cut(error: unknown): unknown {
    const { signal } = this.#request;
    const lostConnection = this.#connection.failure !== undefined || this.#connection.session.destroyed;
    if (signal?.aborted || this.#late || lostConnection) return this.#failure(error);
    const lost = Object.assign(new Error('the stream was reset'), { code: 'ECONNRESET' });
    return brokenOff(this.#server, lost);
  }

  /** Returns the connection's error, which is more precise than those of its streams. */
  #failure(error: unknown): unknown {
    const { signal } = this.#request;
    if (signal?.aborted) return signal.reason;
    if (this.#late) return this.#tooLate();
    const { failure } = this.#connection;
    const unsent = this.#unsent;
    const lost = failure === undefined || isOwn(failure);
    if (lost) return unreachable(this.#server, 'the connection was lost', 'reset', { unsent, cause: error });
    return translate(this.#server, failure, unsent);
  }
}

/** Returns true for the errors that HTTP/2 reports for a closed connection. */
const isOwn = (error: unknown) =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_HTTP2_');
