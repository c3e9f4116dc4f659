/**
 * HTTP/2 connections. The half dozen watches of a kubelet share one connection: the TLS connections of a
 * thousand nodes took most of the server's memory. Other clients get HTTP/2 too unless `--http2 agents` is
 * set; any client may offer the protocol of the kubelets, so the limits apply to all clients either way.
 */
import { constants, createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Server } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { Http2Liveness } from '../../http/http2-liveness.ts';
import { ControlFrames, http2Options } from '../load/http2-limits.ts';
import { lingerThenDestroy } from '../load/linger.ts';
import type { RequestEnv } from '../options.ts';
import { type Answer as StreamAnswer, serveHttp2Stream } from './http2-stream.ts';
import { isPublic } from './public-answers.ts';

export interface Http2Connections {
  /** Accepts no new requests; connections end with the requests that are in progress. */
  drain(): void;
}

/** Answers a request that arrived on the connection of `socket`. */
export type Answer = (request: Request, socket: TLSSocket, way: Way) => Promise<Response>;
type Way = Pick<RequestEnv, 'hangUp' | 'push' | 'onClosed' | 'impersonation'>;

export interface Http2ConnectionsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Timeout in milliseconds of a piece of an answer that the client does not read. */
  readonly stalledMs: number;
  /** Time in milliseconds after which a connection without requests is closed. */
  readonly idleMs: number;
  /** Returns whether the client has presented the certificate of a node. */
  readonly isNode: (socket: TLSSocket) => boolean;
  /** Returns whether the client has no certificate and none of its requests has been authenticated. */
  readonly isStranger: (socket: TLSSocket) => boolean;
  /** Returns whether the connection may be used again after an answer with that status. */
  readonly isKnown: (socket: TLSSocket, status: number) => boolean;
}

/** Silence in milliseconds after which TCP probes a connection, even one that ends with its last stream. */
const keepAliveMs = 15_000;
/** Timeout in milliseconds for the client to close its side too. */
const goodbyeMs = 30_000;

/** Takes over the connections for which HTTP/2 was negotiated. */
export function serveHttp2(
  server: Server,
  answer: Answer,
  options: Http2ConnectionsOptions,
): Http2Connections {
  const sessions = new Map<ServerHttp2Session, TLSSocket>();
  const ofNodes = createSecureServer(http2Options(true));
  const ofOthers = createSecureServer(http2Options(false));
  const others = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol !== 'h2') {
      for (const listen of others) Reflect.apply(listen, server, [socket]);
      return;
    }
    socket.setKeepAlive(true, keepAliveMs);
    const http2 = options.isNode(socket) ? ofNodes : ofOthers;
    http2.once('session', (session) => {
      sessions.set(session, socket);
      session.once('close', () => sessions.delete(session));
      lookAfter(session, socket, answer, options);
    });
    http2.emit('secureConnection', socket);
  });
  return {
    drain: () => {
      for (const [session, socket] of sessions) {
        session.close();
        lingerThenDestroy(socket, options.clock);
      }
    },
  };
}

function lookAfter(
  session: ServerHttp2Session,
  socket: TLSSocket,
  answer: Answer,
  options: Http2ConnectionsOptions,
): void {
  const { clock, log, stalledMs, idleMs } = options;
  const part = () => {
    if (session.closed) return;
    session.close();
    const late = clock.after(goodbyeMs, () => socket.destroy());
    socket.once('close', () => late.cancel());
  };
  const liveness = new Http2Liveness(session, {
    clock,
    onLost: () => {
      log.debug('an HTTP/2 client does not answer; closing its connection');
      session.destroy();
    },
    idleMs,
    onIdle: part,
  });
  const frames = new ControlFrames(clock);
  const count = () => {
    if (frames.accepts() || session.destroyed) return;
    log.debug('an HTTP/2 client sends too many PING or SETTINGS frames; closing its connection');
    session.destroy(new Error('too many PING or SETTINGS frames'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  session.on('ping', count);
  session.on('remoteSettings', count);
  const inTurn = new InTurn(session, socket, answer, { ...options, part });
  session.on('stream', (stream, headers, _flags, raw) => {
    liveness.carries(stream);
    const respond: StreamAnswer = (request, way) => inTurn.answer(request, way, stream);
    serveHttp2Stream(stream, headers, raw, respond, { clock, stalledMs }).catch((error) => {
      log.error('a request over HTTP/2 was not answered', { error: errorMessage(error) });
      stream.destroy();
    });
  });
  session.on('error', (error) => log.debug('an HTTP/2 connection failed', { error: error.message }));
}

interface TurnOptions extends Pick<Http2ConnectionsOptions, 'isStranger' | 'isKnown'> {
  /** Closes the connection when the requests in progress have ended. */
  readonly part: () => void;
}

/**
 * Answers the requests of an unauthenticated client one by one until one is authenticated, and the requests
 * of other clients at once. The first answer to a client that is not authenticated is the last of the
 * connection, as in HTTP/1.1.
 */
class InTurn {
  readonly #session: ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #answer: Answer;
  readonly #options: TurnOptions;
  /** The request of an unauthenticated client that is being answered. */
  #first: Promise<unknown> | undefined;
  #isOver = false;

  constructor(session: ServerHttp2Session, socket: TLSSocket, answer: Answer, options: TurnOptions) {
    this.#session = session;
    this.#socket = socket;
    this.#answer = answer;
    this.#options = options;
  }

  async answer(request: Request, way: Way, stream: ServerHttp2Stream): Promise<Response> {
    const { isStranger } = this.#options;
    while (this.#first !== undefined && isStranger(this.#socket)) await this.#first;
    if (this.#isOver || this.#session.destroyed || stream.destroyed) {
      // Signals that nothing of the request was done (RFC 9113 §8.7).
      if (!stream.destroyed) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return new Response(null, { status: 503 });
    }
    const answered = this.#answered(request, way, stream);
    if (isStranger(this.#socket)) {
      const done = () => {
        this.#first = undefined;
      };
      this.#first = answered.then(done, done);
    }
    return answered;
  }

  async #answered(request: Request, way: Way, stream: ServerHttp2Stream): Promise<Response> {
    const { isKnown, part } = this.#options;
    const response = await this.#answer(request, this.#socket, way);
    if (!isPublic(response) && !isKnown(this.#socket, response.status)) {
      this.#isOver = true;
      stream.once('close', part);
    }
    return response;
  }
}
