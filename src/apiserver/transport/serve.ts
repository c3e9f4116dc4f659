/**
 * Serves the app over HTTPS: HTTP/1.1, and HTTP/2 for clients that offer it (http2-connections.ts). Client
 * certificates are requested and never required; the authenticator decides whether they count.
 */
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { onAbort } from '../../base/abort.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { latest, onChangeOf } from '../../base/current.ts';
import { maxHeaderBytes, maxUnknownHeaderBytes } from '../../http/header-limits.ts';
import { Connections, connectionLimits, defaultConnections } from '../load/connections.ts';
import { lastAnswersMs } from '../load/linger.ts';
import { Pipelining } from '../load/pipelining.ts';
import { wantsUpgrade } from '../upgrade/serve-upgrade.ts';
import { answerClientError } from './client-errors.ts';
import { ConnectedClients } from './connected-clients.ts';
import { protocolChooser } from './http2-clients.ts';
import { type Http2Connections, serveHttp2 } from './http2-connections.ts';
import { HttpsRequests } from './https-requests.ts';
import type { ListenOptions } from './listen-options.ts';

export interface Listener {
  readonly port: number;
  /** Resolves when the last connection is closed after the abort. */
  readonly closed: Promise<void>;
}

/** Longer than Go's 90 s for idle connections, so that the client always closes first. */
const defaultIdleMs = 180_000;
/** Time after which requests that are still being answered are cut off. */
const drainMs = 5000;

/** Starts listening. Rejects with a one-line error that says what to do if the address is not available. */
export async function listenHttps(options: ListenOptions): Promise<Listener> {
  const { tls, signal, clock, log, maxConnections = defaultConnections } = options;
  const { patienceMs = 10_000, stalledMs = 60_000, idleMs = defaultIdleMs } = options;
  const connections = new Connections(connectionLimits(maxConnections), options);
  const clients = new ConnectedClients(connections, tls.clientCA);
  const pipelining = new Pipelining<Socket>();
  const requests = new HttpsRequests(options, clients, pipelining);
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
    (incoming, outgoing) => requests.take(incoming, outgoing),
  );
  server.prependListener('connection', (socket: Socket) => connections.accept(socket));
  endFailedAndStalled(server, { clients, pipelining, stalledMs, clock });
  limitHeads(server, clients);
  const { isNode, isStranger, isKnown } = clients;
  const { answer } = requests;
  const http2 = serveHttp2(server, answer, { clock, log, stalledMs, idleMs, isNode, isStranger, isKnown });
  // Runs after serveHttp2, which takes the listeners that exist for HTTP/1.1 alone.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    if (clients.peerOf(socket)) connections.isCertified(socket);
    else connections.isAnonymous(socket);
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: TLSSocket, head: Buffer) =>
    requests.upgrade(incoming, socket, head),
  );
  server.on('tlsClientError', (error) => log.debug('a TLS handshake failed', { error: error.message }));
  await listen(server, options);
  const renew = () => server.setSecureContext(secureContext(tls));
  onAbort(signal, tls.identity.onChange(renew));
  onAbort(signal, onChangeOf(tls.clientCA, renew));
  const port = (server.address() as AddressInfo).port;
  server.on('error', (error) => log.error('the HTTPS server failed', { error: error.message }));
  return { port, closed: closeOn(server, http2, connections, options) };
}

interface Stalled {
  readonly clients: ConnectedClients;
  readonly pipelining: Pipelining<Socket>;
  readonly stalledMs: number;
  readonly clock: Pick<Clock, 'soon'>;
}

/** Closes connections that break HTTP/1.1, or whose clients read nothing for `stalledMs`. */
function endFailedAndStalled(server: Server, { clients, pipelining, stalledMs, clock }: Stalled): void {
  const mayWait = (socket: TLSSocket) => socket.bytesRead === 0 && clients.peerOf(socket) !== undefined;
  server.on('clientError', (error, socket) =>
    answerClientError(error, socket as TLSSocket, mayWait(socket as TLSSocket), clock),
  );
  // Node restarts its own timer of a connection whenever a part of a write is flushed. A watch may be silent.
  server.timeout = stalledMs;
  server.on('timeout', (socket: TLSSocket) => {
    if (socket.writableLength === 0 && (pipelining.isAnswering(socket) || mayWait(socket))) return;
    socket.destroy();
  });
}

/** Sets the maximum size of heads: that of clients without a certificate is smaller. */
function limitHeads(server: Server, clients: ConnectedClients): void {
  // A connection's parser is created when the connection is handed over, with the limit that the server has
  // at that moment.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    Object.assign(server, { maxHeaderSize: clients.peerOf(socket) ? maxHeaderBytes : maxUnknownHeaderBytes });
  });
}

const secureContext = ({ identity: { value }, clientCA }: ListenOptions['tls']): SecureContextOptions => ({
  key: value.key,
  cert: `${value.certificate.trim()}\n${latest(clientCA)}`,
  ca: latest(clientCA),
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
  { signal, clock, beforeClose }: Pick<ListenOptions, 'signal' | 'clock' | 'beforeClose'>,
): Promise<void> {
  return new Promise((resolve) => {
    const close = async () => {
      if (beforeClose) {
        await beforeClose();
        // A GOAWAY names the last request that is answered; clients send later ones on a new connection.
        http2.drain();
        await sleep(clock, lastAnswersMs);
      }
      const cutOff = clock.after(drainMs, () => connections.endAll());
      server.close(() => {
        cutOff.cancel();
        resolve();
      });
      server.closeIdleConnections();
      connections.endHandshakes();
      http2.drain();
    };
    onAbort(signal, () => void close());
  });
}
