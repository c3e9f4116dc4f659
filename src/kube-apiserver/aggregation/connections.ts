/**
 * Connections to one extension server, which are kept for further requests. Each is TLS with the certificate
 * of the front proxy, over a connection to an endpoint of the Service: through the agent of a pod's node, so
 * that a master needs no route to pods.
 */
import { Agent } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { addressKind } from '../../base/addresses.ts';
import type { Clock } from '../../base/clock.ts';
import type { Current } from '../../base/current.ts';
import { trustPublicAuthorities } from '../../base/public-authorities.ts';
import type { NodeConnection } from '../node-connection.ts';
import { type Dial, dialPod, dialPodDirectly, encrypted, unreachable } from '../proxy/dial.ts';
import type { Backend } from './backend.ts';
import { type ExtensionServer, serverName } from './extension-server.ts';

/** Certificate of this server for extension servers, with its key (PEM). */
export interface ProxyIdentity {
  readonly key: string;
  readonly certificate: string;
}

export interface ConnectionsOptions {
  readonly agents: NodeConnection | undefined;
  readonly clock: Clock;
  /** Absent if this server has no certificate for extension servers. */
  readonly identity: Current<ProxyIdentity> | undefined;
}

/** Idle connections that are kept, and the time in milliseconds for which they are. */
const maxIdle = 16;
const idleMs = 30_000;

export class Connections extends Agent {
  readonly #options: ConnectionsOptions;
  readonly #server: ExtensionServer;
  readonly #backend: () => Backend | undefined;
  readonly #closed = new AbortController();

  /** `backend` returns the endpoint of the next connection; undefined if there is none. */
  constructor(options: ConnectionsOptions, server: ExtensionServer, backend: () => Backend | undefined) {
    super({ keepAlive: true, maxFreeSockets: maxIdle, timeout: idleMs });
    this.#options = options;
    this.#server = server;
    this.#backend = backend;
  }

  /** Opens a connection for a request of the agent. */
  override createConnection(_: unknown, done?: (error: Error | null, socket: Duplex) => void): undefined {
    this.open(this.#closed.signal).then(
      (socket) => done?.(null, socket),
      (error: Error) => (done as (error: Error) => void)(error),
    );
  }

  /** Opens a connection. Rejects with a Status if no endpoint answers. */
  async open(signal: AbortSignal): Promise<Duplex> {
    const { clock } = this.#options;
    const backend = this.#backend();
    if (!backend)
      throw unreachable(`no endpoints available for service ${JSON.stringify(this.#server.service)}`);
    const socket = await this.#dial(backend)(signal);
    return encrypted(socket, clock, signal, this.#terms());
  }

  /** Ends idle connections and dials; requests that are under way go on. */
  close(): void {
    this.#closed.abort();
    for (const sockets of Object.values(this.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
  }

  #dial(backend: Backend): Dial {
    const { agents, clock } = this.#options;
    switch (backend.kind) {
      case 'pod':
        return agents
          ? dialPod(agents, clock, { scheme: 'http', ...backend })
          : dialPodDirectly(clock, backend.address, backend.port);
      case 'address':
        return dialPodDirectly(clock, backend.address, backend.port);
      case 'name':
        return (signal) => dialName(backend, signal);
    }
  }

  #terms(): ConnectionOptions {
    const { isVerified, authority } = this.#server;
    if (isVerified && authority === undefined) trustPublicAuthorities();
    const { key, certificate } = this.#options.identity?.value ?? {};
    return {
      servername: serverName(this.#server),
      rejectUnauthorized: isVerified,
      ...(authority !== undefined && { ca: authority }),
      ...(certificate !== undefined && { cert: certificate, key }),
    };
  }
}

/** Connects to a name outside the cluster. Names of addresses that only this machine reaches are refused. */
async function dialName(
  { host, port }: { host: string; port: number },
  signal: AbortSignal,
): Promise<Duplex> {
  const socket = connect({ host, port, noDelay: true });
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  socket.once('lookup', (error: Error | null, address: string) => {
    if (error || addressKind(address) === 'unicast') return;
    socket.destroy(unreachable('address not allowed'));
  });
  const stop = () => socket.destroy(unreachable('the connection was closed'));
  signal.addEventListener('abort', stop, { once: true });
  socket.once('connect', () => resolve(socket));
  socket.on('error', reject);
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
