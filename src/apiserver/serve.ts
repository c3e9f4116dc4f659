/**
 * The app on HTTPS. HTTP/1.1 only: one watch a connection costs less than HTTP/2's frames. Client certificates
 * are asked for and never demanded; whether they count is the authenticator's business.
 */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { PeerCertificate as NodeCertificate, TLSSocket } from 'node:tls';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from '../base/log.ts';
import type { ApiServer } from './app.ts';
import type { PeerCertificate } from './authentication/authenticator.ts';

export interface ListenOptions {
  readonly app: ApiServer['app'];
  readonly address: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly tls: {
    /** PEM. */
    readonly key: string;
    readonly cert: string;
    /** Client certificates must be signed by this authority. */
    readonly clientCA: string;
  };
  /** Ends the server: watches at once, other requests when they are answered. */
  readonly signal: AbortSignal;
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
  const listener = getRequestListener(
    (request, { incoming }) => {
      const peer = peerOf(incoming.socket as TLSSocket);
      return app.fetch(request, { shutdown: signal, ...(peer && { peer }) });
    },
    { overrideGlobalObjects: false },
  );
  const server = createServer(
    {
      key: tls.key,
      cert: tls.cert,
      ca: tls.clientCA,
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      keepAliveTimeout: keepAliveMs,
      // A large manifest on a slow line takes its time; its size is bounded elsewhere.
      requestTimeout: 60_000,
      headersTimeout: 30_000,
    },
    (incoming, outgoing) => {
      // A connection that is idle again after the abort would keep the server open.
      outgoing.once('close', () => {
        if (signal.aborted) incoming.socket.end();
      });
      void listener(incoming, outgoing);
    },
  );
  server.on('tlsClientError', (error) =>
    options.log.debug('a TLS handshake failed', { error: error.message }),
  );
  await listen(server, options);
  const port = (server.address() as AddressInfo).port;
  server.on('error', (error) => options.log.error('the HTTPS server failed', { error: error.message }));
  return { port, closed: closeOn(server, signal) };
}

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

function closeOn(server: Server, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const close = () => {
      const cutOff = setTimeout(() => server.closeAllConnections(), drainMs);
      server.close(() => {
        clearTimeout(cutOff);
        resolve();
      });
      server.closeIdleConnections();
    };
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
  });
}

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
