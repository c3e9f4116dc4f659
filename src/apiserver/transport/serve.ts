/**
 * Serves the app over HTTPS: HTTP/1.1, and HTTP/2 for clients that offer it (http2-connections.ts). Client
 * certificates are requested and never required; the authenticator decides whether they count.
 */
import type { EventEmitter } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { PeerCertificate as NodeCertificate, SecureContextOptions, TLSSocket } from 'node:tls';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { onAbort } from '../../base/abort.ts';
import { canonicalAddress } from '../../base/addresses.ts';
import type { Clock } from '../../base/clock.ts';
import type { Current } from '../../base/current.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { holderOf } from '../../formats/certificate-names.ts';
import { maxHeaderBytes, maxUnknownHeaderBytes } from '../../http/header-limits.ts';
import type { ApiServer } from '../app.ts';
import type { PeerCertificate } from '../authentication/authenticator.ts';
import { impersonationFields } from '../authentication/impersonation.ts';
import { Connections, connectionLimits, defaultConnections } from '../load/connections.ts';
import { lingerThenDestroy } from '../load/linger.ts';
import { Pipelining } from '../load/pipelining.ts';
import type { RequestEnv } from '../options.ts';
import { nodesGroup } from '../request/user.ts';
import { serveUpgrade, wantsUpgrade } from '../upgrade/serve-upgrade.ts';
import { answerClientError } from './client-errors.ts';
import { type Http2Clients, protocolChooser } from './http2-clients.ts';
import { type Http2Connections, serveHttp2 } from './http2-connections.ts';
import { pourAnswer } from './pour-answer.ts';
import { refusesHead, refusesHeadOfUpgrade } from './refused-head.ts';
import { pipeAnswer, StreamedAnswer } from './streamed-answer.ts';
import { WholeAnswer } from './whole-answer.ts';

export interface ListenOptions {
  readonly app: Pick<ApiServer['app'], 'fetch'>;
  /** Serves a request without the app. Returns false to leave the request to the app. */
  readonly direct?: DirectServe;
  readonly address: string;
  /** 0 lets the operating system choose. */
  readonly port: number;
  /** Flag that sets the port, for messages; defaults to `--port`. */
  readonly flag?: string;
  readonly tls: {
    /** PEM. Connections that are opened after a change use the new identity. */
    readonly identity: Current<{ readonly key: string; readonly certificate: string }>;
    /**
     * Authority that must have signed client certificates. The server sends it along with its own
     * certificate: a joining machine compares the hash of the authority's key with the hash from its join
     * command.
     */
    readonly clientCA: string;
  };
  /** Stops the server: watches end at once, other requests when they are answered. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
  /** Clients that may use HTTP/2 if they offer it; defaults to `all`. */
  readonly http2?: Http2Clients;
  /** Default 6000; load/connections.ts describes the shares. */
  readonly maxConnections?: number;
  /** Timeout of the TLS handshake, and then of the head of a request; defaults to ten seconds. */
  readonly patienceMs?: number;
  /** Timeout of written data of which the client reads nothing; defaults to one minute. */
  readonly stalledMs?: number;
  /** Time after which a connection without requests is closed; defaults to three minutes. */
  readonly idleMs?: number;
}

/** Environment of a request that the app does not serve. */
export interface DirectWay {
  readonly env: RequestEnv & Required<Pick<RequestEnv, 'impersonation'>>;
  /**
   * Must be called with the status before the head of the answer is written. Decides whether the connection
   * stays open.
   */
  settle(status: number): void;
}

export type DirectServe = (incoming: IncomingMessage, outgoing: ServerResponse, way: DirectWay) => boolean;

export interface Listener {
  readonly port: number;
  /** Resolves when the last connection is closed after the abort. */
  readonly closed: Promise<void>;
}

/** Header that marks an answer as already sent. A backend of the proxy must not set it. */
const [alreadySent = ''] = RESPONSE_ALREADY_SENT.headers.keys();

/** Identity of the client of a connection. */
type Client = Pick<RequestEnv, 'peer' | 'remoteAddress' | 'belongsTo'>;

/** Longer than Go's 90 s for idle connections, so that the client always closes first. */
const defaultIdleMs = 180_000;
/** Time after which requests that are still being answered are cut off. */
const drainMs = 5000;

/** Starts listening. Rejects with a one-line error that says what to do if the address is not available. */
export async function listenHttps(options: ListenOptions): Promise<Listener> {
  const { app, tls, signal, clock, log, maxConnections = defaultConnections } = options;
  const { patienceMs = 10_000, stalledMs = 60_000, idleMs = defaultIdleMs } = options;
  const connections = new Connections(connectionLimits(maxConnections), options);
  const certificates = new WeakMap<TLSSocket, PeerCertificate | undefined>();
  const peerOf = (socket: TLSSocket) => {
    if (!certificates.has(socket)) certificates.set(socket, readPeer(socket));
    return certificates.get(socket);
  };
  const clients = new WeakMap<TLSSocket, Client>();
  const clientOf = (socket: TLSSocket): Client => {
    const known = clients.get(socket);
    if (known) return known;
    const peer = peerOf(socket);
    const { remoteAddress } = socket;
    const client = {
      ...(peer && { peer }),
      ...(remoteAddress && { remoteAddress: plainAddress(remoteAddress) }),
      belongsTo: (user: string) => connections.belongsTo(socket, user),
    };
    clients.set(socket, client);
    return client;
  };
  const answer = async (
    request: Request,
    socket: TLSSocket,
    way: Pick<RequestEnv, 'hangUp' | 'push' | 'onClosed' | 'impersonation'>,
  ) => app.fetch(request, { shutdown: signal, ...clientOf(socket), ...way });
  /** A verified certificate is enough for an answer that requires no user, such as the version. */
  const isKnown = (socket: TLSSocket, status: number) => {
    if (!connections.isStranger(socket)) return true;
    const name = peerOf(socket)?.commonName;
    return Boolean(name) && status !== 401 && connections.belongsTo(socket, name ?? '');
  };
  const settle = (incoming: HttpBindings['incoming'], outgoing: HttpBindings['outgoing'], status: number) => {
    // An unauthenticated client needs a new connection for its next request, which is then the youngest.
    const over = !isKnown(incoming.socket as TLSSocket, status) || isUnwanted(incoming, status);
    if (over && outgoing instanceof ServerResponse) outgoing.shouldKeepAlive = false;
  };
  const directly = (incoming: IncomingMessage, outgoing: ServerResponse): boolean =>
    options.direct?.(incoming, outgoing, {
      env: {
        shutdown: signal,
        ...clientOf(incoming.socket as TLSSocket),
        impersonation: impersonationFields(incoming.rawHeaders),
        onClosed: (fn) => whenClosed(outgoing, fn),
      },
      settle: (status) => settle(incoming, outgoing, status),
    }) ?? false;
  const listener = getRequestListener(
    async (request, bindings) => {
      const { incoming, outgoing } = bindings as HttpBindings;
      const response = await answer(request, incoming.socket as TLSSocket, {
        impersonation: impersonationFields(incoming.rawHeaders),
        hangUp: () => incoming.socket.destroy(),
        onClosed: (fn) => whenClosed(outgoing, fn),
      });
      settle(incoming, outgoing, response.status);
      if (response instanceof StreamedAnswer && outgoing instanceof ServerResponse) {
        pipeAnswer(response.status, response.fields, response.source, outgoing);
        return RESPONSE_ALREADY_SENT;
      }
      if (response instanceof WholeAnswer) send(outgoing, response);
      else {
        response.headers.delete(alreadySent);
        await pourAnswer(response, outgoing as ServerResponse, (error) =>
          options.log.debug('an answer broke off', {
            path: incoming.url?.split('?', 1)[0],
            error: errorMessage(error),
          }),
        );
      }
      return RESPONSE_ALREADY_SENT;
    },
    { overrideGlobalObjects: false },
  );
  const pipelining = new Pipelining<Socket>();
  // A verified client certificate is enough here; the first request reads the user from the certificate.
  const isStranger = (socket: TLSSocket) => !peerOf(socket) && connections.isStranger(socket);
  const server = createServer(
    {
      ...secureContext(tls),
      requestCert: true,
      rejectUnauthorized: false,
      ALPNCallback: protocolChooser(options.http2 ?? 'all'),
      keepAliveTimeout: idleMs,
      // The timeout of a body depends on its purpose (body.ts).
      requestTimeout: 0,
      headersTimeout: patienceMs,
      connectionsCheckingInterval: Math.ceil(patienceMs / 5),
      handshakeTimeout: patienceMs,
      shouldUpgradeCallback: wantsUpgrade,
    },
    (incoming, outgoing) => {
      const socket = incoming.socket as TLSSocket;
      // Requests that had been read before the connection was closed still arrive.
      if (socket.destroyed) return;
      const place = pipelining.join(socket, outgoing, isStranger(socket));
      if (place === 'ended') socket.destroy();
      if (place !== 'answered') return;
      if (refusesHead(incoming, outgoing)) return;
      // A connection that becomes idle after the abort would keep the server open.
      outgoing.once('close', () => {
        if (!signal.aborted) return;
        socket.end();
        lingerThenDestroy(socket, options.clock);
      });
      if (!directly(incoming, outgoing)) void listener(incoming, outgoing);
    },
  );
  server.prependListener('connection', (socket: Socket) => connections.accept(socket));
  const mayWait = (socket: Socket) => socket.bytesRead === 0 && peerOf(socket as TLSSocket) !== undefined;
  server.on('clientError', (error, socket) =>
    answerClientError(error, socket as TLSSocket, mayWait(socket as TLSSocket)),
  );
  // Node restarts its own timer of a connection whenever a part of a write is flushed. A watch may be silent.
  server.timeout = stalledMs;
  server.on('timeout', (socket: TLSSocket) => {
    if (socket.writableLength === 0 && (pipelining.isAnswering(socket) || mayWait(socket))) return;
    socket.destroy();
  });
  // A connection's parser is created when the connection is handed over, with the limit that the server has
  // at that moment.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    Object.assign(server, { maxHeaderSize: peerOf(socket) ? maxHeaderBytes : maxUnknownHeaderBytes });
  });
  const isNode = (socket: TLSSocket) => peerOf(socket)?.organizations.includes(nodesGroup) ?? false;
  const http2 = serveHttp2(server, answer, { clock, log, stalledMs, idleMs, isNode, isStranger, isKnown });
  // Runs after serveHttp2, which takes the listeners that exist for HTTP/1.1 alone.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    if (peerOf(socket)) connections.isCertified(socket);
    else connections.isAnonymous(socket);
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: TLSSocket, head: Buffer) => {
    // The answer of the upgrade would be sent before the answers that are still owed.
    if (pipelining.isOwing(socket)) {
      socket.destroy();
      return;
    }
    if (refusesHeadOfUpgrade(incoming, socket)) return;
    void serveUpgrade(options, incoming, socket, head, clientOf(socket));
  });
  server.on('tlsClientError', (error) =>
    options.log.debug('a TLS handshake failed', { error: error.message }),
  );
  await listen(server, options);
  onAbort(
    signal,
    tls.identity.onChange(() => server.setSecureContext(secureContext(tls))),
  );
  const port = (server.address() as AddressInfo).port;
  server.on('error', (error) => options.log.error('the HTTPS server failed', { error: error.message }));
  return { port, closed: closeOn(server, http2, connections, options) };
}

/** Sends an answer whose body is complete in memory. */
export function send(outgoing: HttpBindings['outgoing'], { status, headers, whole }: WholeAnswer): void {
  const fields: Record<string, string | number> = { 'content-length': Buffer.byteLength(whole) };
  for (const [name, value] of headers) fields[name] = value;
  (outgoing as ServerResponse).writeHead(status, fields).end(whole);
}

function whenClosed(answer: EventEmitter & { readonly closed?: boolean }, fn: () => void): void {
  if (answer.closed) fn();
  else answer.once('close', fn);
}

const secureContext = ({ identity: { value }, clientCA }: ListenOptions['tls']): SecureContextOptions => ({
  key: value.key,
  cert: `${value.certificate.trim()}\n${clientCA}`,
  ca: clientCA,
  minVersion: 'TLSv1.2',
});

function listen(server: Server, { address, port, flag = '--port' }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, address, port, flag)));
    server.listen(port, address, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function explain(error: NodeJS.ErrnoException, address: string, port: number, flag: string): Error {
  const at = `${address}:${port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new Error(`${at} is in use: stop the process that listens there or choose another ${flag}`, {
        cause: error,
      });
    case 'EACCES':
      return new Error(`no permission to listen on ${at}: choose a ${flag} above 1023`, { cause: error });
    case 'EADDRNOTAVAIL':
      return new Error(`this machine has no address ${address}: correct --bind-address`, { cause: error });
    default:
      return new Error(`cannot listen on ${at}`, { cause: error });
  }
}

function closeOn(
  server: Server,
  http2: Http2Connections,
  connections: Connections,
  { signal, clock }: Pick<ListenOptions, 'signal' | 'clock'>,
): Promise<void> {
  return new Promise((resolve) => {
    const close = () => {
      const cutOff = clock.after(drainMs, () => connections.endAll());
      server.close(() => {
        cutOff.cancel();
        resolve();
      });
      server.closeIdleConnections();
      connections.endHandshakes();
      http2.drain();
    };
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
  });
}

/** Largest body in bytes that is read and discarded so that the connection can be reused. */
const mostDropped = 64 * 1024;

/**
 * Returns whether to close the connection instead of reading a large body: that of an unauthenticated client,
 * or of a GET or HEAD.
 */
function isUnwanted(
  { complete, method, headers }: Pick<IncomingMessage, 'complete' | 'method' | 'headers'>,
  status: number,
): boolean {
  if (complete || (status !== 401 && method !== 'GET' && method !== 'HEAD')) return false;
  return Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) > mostDropped;
}

/**
 * Returns an IPv4-mapped IPv6 address (of a dual-stack socket) as IPv4; an address with a zone is returned
 * unchanged.
 */
const plainAddress = (address: string) => canonicalAddress(address) ?? address;

/**
 * Returns the subject of the client's certificate, if the certificate was verified against the client
 * authority.
 */
function readPeer(socket: TLSSocket): PeerCertificate | undefined {
  return socket.authorized
    ? holderOf((socket.getPeerCertificate() as Partial<NodeCertificate>).raw)
    : undefined;
}
