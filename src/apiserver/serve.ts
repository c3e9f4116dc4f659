/**
 * The app on HTTPS: HTTP/1.1, and HTTP/2 for clients that offer it (http2-connections.ts). Client certificates
 * are asked for and never demanded; whether they count is the authenticator's business.
 */
import type { EventEmitter } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { PeerCertificate as NodeCertificate, SecureContextOptions, TLSSocket } from 'node:tls';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { onAbort } from '../base/abort.ts';
import { canonicalAddress } from '../base/addresses.ts';
import { holderOf } from '../base/certificate-names.ts';
import type { Clock } from '../base/clock.ts';
import type { Current } from '../base/current.ts';
import { maxHeaderBytes, maxUnknownHeaderBytes } from '../base/header-limits.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { ApiServer } from './app.ts';
import type { PeerCertificate } from './authentication/authenticator.ts';
import { impersonationFields } from './authentication/impersonation.ts';
import { answerClientError } from './client-errors.ts';
import { type Http2Clients, protocolChooser } from './http2-clients.ts';
import { type Http2Connections, serveHttp2 } from './http2-connections.ts';
import { Connections, connectionLimits, defaultConnections } from './load/connections.ts';
import { lingerThenDestroy } from './load/linger.ts';
import { Pipelining } from './load/pipelining.ts';
import type { RequestEnv } from './options.ts';
import { pourAnswer } from './pour-answer.ts';
import { refusesHead, refusesHeadOfUpgrade } from './refused-head.ts';
import { pipeAnswer, StreamedAnswer } from './streamed-answer.ts';
import { serveUpgrade, wantsUpgrade } from './upgrade/serve-upgrade.ts';
import { nodesGroup } from './user.ts';
import { WholeAnswer } from './whole-answer.ts';

export interface ListenOptions {
  readonly app: Pick<ApiServer['app'], 'fetch'>;
  /** Serves a request by itself; false leaves it to the app. */
  readonly direct?: DirectServe;
  readonly address: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** By which the port is chosen, for messages; default `--port`. */
  readonly flag?: string;
  readonly tls: {
    /** PEM. Connections made after a change see the new one. */
    readonly identity: Current<{ readonly key: string; readonly certificate: string }>;
    /**
     * Client certificates must be signed by this authority. It is shown with the server's certificate: a machine that
     * joins compares the authority's key with the hash it was told.
     */
    readonly clientCA: string;
  };
  /** Ends the server: watches at once, other requests when they are answered. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
  /** Clients that get HTTP/2 where they offer it; default `all`. */
  readonly http2?: Http2Clients;
  /** Default 6000; see load/connections.ts for the shares. */
  readonly maxConnections?: number;
  /** How long a client may take to agree on TLS, and then to send the head of a request; default ten seconds. */
  readonly patienceMs?: number;
  /** How long what was written may wait without any of it being read; default a minute. */
  readonly stalledMs?: number;
}

/** How a request came that is not served by the app. */
export interface DirectWay {
  readonly env: RequestEnv & Required<Pick<RequestEnv, 'impersonation'>>;
  /** To be called before the head of the answer is written, with its status: whether the connection is kept. */
  settle(status: number): void;
}

export type DirectServe = (incoming: IncomingMessage, outgoing: ServerResponse, way: DirectWay) => boolean;

export interface Listener {
  readonly port: number;
  /** Resolves when the last connection is closed after the abort. */
  readonly closed: Promise<void>;
}

/** The header by which the listener is told that nothing is left to send; a backend of the proxy may not say so. */
const [alreadySent = ''] = RESPONSE_ALREADY_SENT.headers.keys();

/** Who is at the other end of a connection. */
type Client = Pick<RequestEnv, 'peer' | 'remoteAddress' | 'belongsTo'>;

/** Longer than Go's 90 s for idle connections, so that the client is always the one who hangs up. */
const keepAliveMs = 180_000;
/** After this, requests that are still being answered are cut off. */
const drainMs = 5000;

/** Rejects with one line that says what to do when the address cannot be listened on. */
export async function listenHttps(options: ListenOptions): Promise<Listener> {
  const { app, tls, signal, clock, log, maxConnections = defaultConnections } = options;
  const { patienceMs = 10_000, stalledMs = 60_000 } = options;
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
  /** A verified certificate is enough for an answer that needs no user, such as the version. */
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
  // A client certificate that verified is enough here; the user is read from it with the first request.
  const isStranger = (socket: TLSSocket) => !peerOf(socket) && connections.isStranger(socket);
  const server = createServer(
    {
      ...secureContext(tls),
      requestCert: true,
      rejectUnauthorized: false,
      ALPNCallback: protocolChooser(options.http2 ?? 'all'),
      keepAliveTimeout: keepAliveMs,
      // How long a body may take depends on what it is for (body.ts).
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
      // A connection that is idle again after the abort would keep the server open.
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
  // Node's own timer of a connection starts anew with whatever of a write gets away. A watch may well be silent.
  server.timeout = stalledMs;
  server.on('timeout', (socket: TLSSocket) => {
    if (socket.writableLength === 0 && (pipelining.isAnswering(socket) || mayWait(socket))) return;
    socket.destroy();
  });
  // The parser of a connection is made when it is handed over, with the limit that the server has then.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    Object.assign(server, { maxHeaderSize: peerOf(socket) ? maxHeaderBytes : maxUnknownHeaderBytes });
  });
  const isNode = (socket: TLSSocket) => peerOf(socket)?.organizations.includes(nodesGroup) ?? false;
  const http2 = serveHttp2(server, answer, { clock, log, stalledMs, isNode, isStranger, isKnown });
  // After serveHttp2, which takes the listeners that are there for HTTP/1.1 alone.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    if (peerOf(socket)) connections.isCertified(socket);
    else connections.isAnonymous(socket);
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: TLSSocket, head: Buffer) => {
    // Its answer would be sent before those that are under way.
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

/** Writes an answer that is all there. */
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

/** A body that is no larger is read and dropped, so that the connection can be used again. */
const mostDropped = 64 * 1024;

/** Whether to close the connection rather than read on: a stranger's body, or one where there should be none. */
function isUnwanted(
  { complete, method, headers }: Pick<IncomingMessage, 'complete' | 'method' | 'headers'>,
  status: number,
): boolean {
  if (complete || (status !== 401 && method !== 'GET' && method !== 'HEAD')) return false;
  return Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) > mostDropped;
}

/** A socket for both families writes IPv4 as IPv6 that stands for it; an address with a zone stays as it is. */
const plainAddress = (address: string) => canonicalAddress(address) ?? address;

/** The client's certificate, if it was verified against the client authority. */
function readPeer(socket: TLSSocket): PeerCertificate | undefined {
  return socket.authorized
    ? holderOf((socket.getPeerCertificate() as Partial<NodeCertificate>).raw)
    : undefined;
}
