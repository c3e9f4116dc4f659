/** Serves requests over HTTP/1.1 and decides whether their connections stay open. */
import type { EventEmitter } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { errorMessage } from '../../base/log.ts';
import { impersonationFields } from '../authentication/impersonation.ts';
import { lastAnswersMs, lingerThenDestroy } from '../load/linger.ts';
import type { Pipelining } from '../load/pipelining.ts';
import { serveUpgrade } from '../upgrade/serve-upgrade.ts';
import type { ConnectedClients } from './connected-clients.ts';
import type { Answer } from './http2-connections.ts';
import type { ListenOptions } from './listen-options.ts';
import { pourAnswer } from './pour-answer.ts';
import { isPublic } from './public-answers.ts';
import { refusesHead, refusesHeadOfUpgrade } from './refused-head.ts';
import { discardRest, isUnread } from './rest-of-body.ts';
import { pipeAnswer, StreamedAnswer } from './streamed-answer.ts';
import { sendWhole, WholeAnswer } from './whole-answer.ts';

/** Header that marks an answer as already sent. A backend of the proxy must not set it. */
const [alreadySent = ''] = RESPONSE_ALREADY_SENT.headers.keys();

/** Serves the requests of one listener. */
export class HttpsRequests {
  readonly #options: ListenOptions;
  readonly #clients: ConnectedClients;
  readonly #pipelining: Pipelining<Socket>;
  readonly #listener: ReturnType<typeof getRequestListener>;

  constructor(options: ListenOptions, clients: ConnectedClients, pipelining: Pipelining<Socket>) {
    this.#options = options;
    this.#clients = clients;
    this.#pipelining = pipelining;
    this.#listener = getRequestListener(
      (request, bindings) => this.#respond(request, bindings as HttpBindings),
      { overrideGlobalObjects: false },
    );
  }

  /** Passes a request of a connection to the app. */
  readonly answer: Answer = async (request, socket, way) =>
    this.#options.app.fetch(request, {
      shutdown: this.#options.signal,
      ...this.#clients.clientOf(socket),
      ...way,
    });

  /** Serves a request, unless its connection has no place for it or its head is refused. */
  take(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const socket = incoming.socket as TLSSocket;
    // Requests that had been read before the connection was closed still arrive.
    if (socket.destroyed) return;
    const place = this.#pipelining.join(socket, outgoing, this.#clients.isStranger(socket));
    if (place === 'ended') socket.destroy();
    if (place !== 'answered') return;
    if (refusesHead(incoming, outgoing)) return;
    outgoing.once('close', () => {
      if (this.#options.signal.aborted) this.#close(socket, outgoing.shouldKeepAlive);
    });
    if (!this.#directly(incoming, outgoing)) void this.#listener(incoming, outgoing);
  }

  /** Serves a request for another protocol. */
  upgrade(incoming: IncomingMessage, socket: TLSSocket, head: Buffer): void {
    // The answer of the upgrade would be sent before the answers that are still owed.
    if (this.#pipelining.isOwing(socket)) {
      socket.destroy();
      return;
    }
    if (refusesHeadOfUpgrade(incoming, socket)) return;
    void serveUpgrade(this.#options, incoming, socket, head, this.#clients.clientOf(socket));
  }

  /**
   * Closes a connection that became idle after the abort, which would keep the server open. The head of an
   * answer that was sent before the abort may have promised to keep the connection: the next request on it
   * may be on its way, and its answer closes the connection.
   */
  #close(socket: TLSSocket, isPromised: boolean): void {
    const { clock } = this.#options;
    if (isPromised) {
      clock.after(lastAnswersMs, () => {
        if (!this.#pipelining.isAnswering(socket)) this.#close(socket, false);
      });
      return;
    }
    socket.end();
    lingerThenDestroy(socket, clock);
  }

  /** Returns false for a request that is left to the app. */
  #directly(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const { direct, signal } = this.#options;
    if (!direct) return false;
    return direct(incoming, outgoing, {
      env: {
        shutdown: signal,
        ...this.#clients.clientOf(incoming.socket as TLSSocket),
        impersonation: impersonationFields(incoming.rawHeaders),
        onClosed: (fn) => whenClosed(outgoing, fn),
      },
      settle: (status) => this.#settle(incoming, outgoing, status),
    });
  }

  async #respond(request: Request, { incoming, outgoing }: HttpBindings): Promise<Response> {
    const response = await this.answer(request, incoming.socket as TLSSocket, {
      impersonation: impersonationFields(incoming.rawHeaders),
      hangUp: () => incoming.socket.destroy(),
      onClosed: (fn) => whenClosed(outgoing, fn),
    });
    this.#settle(incoming, outgoing, response.status, isPublic(response));
    if (response instanceof StreamedAnswer && outgoing instanceof ServerResponse) {
      pipeAnswer(response.status, response.fields, response.source, outgoing);
      return RESPONSE_ALREADY_SENT;
    }
    if (response instanceof WholeAnswer) {
      await this.#takeRest(incoming, outgoing);
      sendWhole(outgoing, response);
    } else {
      response.headers.delete(alreadySent);
      await pourAnswer(response, outgoing as ServerResponse, (error) =>
        this.#options.log.debug('an answer broke off', {
          path: incoming.url?.split('?', 1)[0],
          error: errorMessage(error),
        }),
      );
    }
    return RESPONSE_ALREADY_SENT;
  }

  /** Reads the rest of the request's body, so that the connection can be used again. */
  async #takeRest(incoming: HttpBindings['incoming'], outgoing: HttpBindings['outgoing']): Promise<void> {
    if (!(outgoing instanceof ServerResponse && outgoing.shouldKeepAlive && isUnread(incoming))) return;
    const { clock, signal } = this.#options;
    const rest = await discardRest(incoming, clock, signal);
    // The Hono adapter closes the connection half a second after the answer. Closed with the answer, the
    // connection would be reset under a client that is still sending, before the client reads the answer.
    if (rest === 'too large') return;
    outgoing.shouldKeepAlive = rest === 'discarded' && !signal.aborted;
  }

  /** Closes the connection after the answer if it must not be used again. */
  #settle(
    incoming: HttpBindings['incoming'],
    outgoing: HttpBindings['outgoing'],
    status: number,
    isForAll = false,
  ): void {
    // An unauthenticated client needs a new connection for its next request, which is then the youngest.
    const isKnown = isForAll || this.#clients.isKnown(incoming.socket as TLSSocket, status);
    // A server that stops closes the connection after the answer, and after the rest of the body (#takeRest).
    const isLast = this.#options.signal.aborted && incoming.complete;
    const isOver = !isKnown || isLast || isUnwanted(incoming, status);
    if (isOver && outgoing instanceof ServerResponse) outgoing.shouldKeepAlive = false;
  }
}

function whenClosed(answer: EventEmitter & { readonly closed?: boolean }, fn: () => void): void {
  if (answer.closed) fn();
  else answer.once('close', fn);
}

/** Largest body in bytes that is read and discarded so that the connection can be reused. */
const maxDropped = 64 * 1024;

/**
 * Returns whether to close the connection instead of reading a large body: that of an unauthenticated client,
 * or of a GET or HEAD.
 */
function isUnwanted(
  { complete, method, headers }: Pick<IncomingMessage, 'complete' | 'method' | 'headers'>,
  status: number,
): boolean {
  if (complete || (status !== 401 && method !== 'GET' && method !== 'HEAD')) return false;
  return Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) > maxDropped;
}
