/**
 * The app on HTTPS. HTTP/1.1, but for node agents (agent-connections.ts). Client certificates
 * are asked for and never demanded; whether they count is the authenticator's business.
 */
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { PeerCertificate as NodeCertificate, SecureContextOptions, TLSSocket } from 'node:tls';
import { getRequestListener } from '@hono/node-server';
import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Current } from '../base/current.ts';
import type { Logger } from '../base/log.ts';
import { type AgentConnections, chooseProtocol, serveAgents } from './agent-connections.ts';
import type { ApiServer } from './app.ts';
import type { PeerCertificate } from './authentication/authenticator.ts';
import type { RequestEnv } from './options.ts';
import { serveUpgrade, wantsUpgrade } from './upgrade/serve-upgrade.ts';

export interface ListenOptions {
  readonly app: ApiServer['app'];
  readonly address: string;
  /** 0 lets the system choose. */
  readonly port: number;
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
}

export interface Listener {
  readonly port: number;
  /** Resolves when the last connection is closed after the abort. */
  readonly closed: Promise<void>;
}

/** Longer than Go's 90 s for idle connections, so that the client is always the one who hangs up. */
const keepAliveMs = 180_000;
/** After this, requests that are still being answered are cut off. */
const drainMs = 5000;

/** Rejects with one line that says what to do when the address can not be had. */
export async function listenHttps(options: ListenOptions): Promise<Listener> {
  const { app, tls, signal } = options;
  const certificates = new WeakMap<TLSSocket, PeerCertificate | undefined>();
  const peerOf = (socket: TLSSocket) => {
    if (!certificates.has(socket)) certificates.set(socket, readPeer(socket));
    return certificates.get(socket);
  };
  const clientOf = (socket: TLSSocket) => {
    const peer = peerOf(socket);
    const { remoteAddress } = socket;
    return { ...(peer && { peer }), ...(remoteAddress && { remoteAddress: plainAddress(remoteAddress) }) };
  };
  const answer = async (request: Request, socket: TLSSocket, way: Pick<RequestEnv, 'hangUp' | 'push'>) =>
    app.fetch(request, { shutdown: signal, ...clientOf(socket), ...way });
  const listener = getRequestListener(
    (request, { incoming }) =>
      answer(request, incoming.socket as TLSSocket, { hangUp: () => incoming.socket.destroy() }),
    { overrideGlobalObjects: false },
  );
  const server = createServer(
    {
      ...secureContext(tls),
      requestCert: true,
      rejectUnauthorized: false,
      ALPNCallback: chooseProtocol,
      keepAliveTimeout: keepAliveMs,
      // How long a body may take depends on what it is for (body.ts).
      requestTimeout: 0,
      headersTimeout: 30_000,
      shouldUpgradeCallback: wantsUpgrade,
    },
    (incoming, outgoing) => {
      // A connection that is idle again after the abort would keep the server open.
      outgoing.once('close', () => {
        if (signal.aborted) incoming.socket.end();
      });
      void listener(incoming, outgoing);
    },
  );
  const agents = serveAgents(server, answer, options);
  server.on('upgrade', (incoming: IncomingMessage, socket: TLSSocket, head: Buffer) => {
    void serveUpgrade({ app, signal, log: options.log }, incoming, socket, head, clientOf(socket));
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
  return { port, closed: closeOn(server, agents, signal) };
}

const secureContext = ({ identity: { value }, clientCA }: ListenOptions['tls']): SecureContextOptions => ({
  key: value.key,
  cert: `${value.certificate.trim()}\n${clientCA}`,
  ca: clientCA,
  minVersion: 'TLSv1.2',
});

function listen(server: Server, { address, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, address, port)));
    server.listen(port, address, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function explain(error: NodeJS.ErrnoException, address: string, port: number): Error {
  const at = `${address}:${port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new Error(`${at} is in use: stop what listens there or choose another --port`, { cause: error });
    case 'EACCES':
      return new Error(`no permission to listen on ${at}: choose a --port above 1023`, { cause: error });
    case 'EADDRNOTAVAIL':
      return new Error(`this machine has no address ${address}: correct --bind-address`, { cause: error });
    default:
      return new Error(`cannot listen on ${at}`, { cause: error });
  }
}

function closeOn(server: Server, agents: AgentConnections, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const close = () => {
      const cutOff = setTimeout(() => {
        server.closeAllConnections();
        agents.cutOff();
      }, drainMs);
      server.close(() => {
        clearTimeout(cutOff);
        resolve();
      });
      server.closeIdleConnections();
      agents.drain();
    };
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
  });
}

/** A socket for both families writes IPv4 as `::ffff:192.0.2.1`. */
const plainAddress = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '');

/** The certificate the client showed, if it verified against the client authority. */
function readPeer(socket: TLSSocket): PeerCertificate | undefined {
  if (!socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate() as Partial<NodeCertificate>;
  const commonName = asList(subject?.CN).at(-1);
  return commonName ? { commonName, organizations: asList(subject?.O) } : undefined;
}

/** Node gives one value as text and several as a list. */
const asList = (value: unknown): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value.map(String) : [String(value)];
