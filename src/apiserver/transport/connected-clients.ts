/** The clients of the open connections, identified by their certificates and requests. */
import type { PeerCertificate as NodeCertificate, TLSSocket } from 'node:tls';
import { canonicalAddress } from '../../base/addresses.ts';
import { type Current, latest } from '../../base/current.ts';
import { holderOf } from '../../formats/certificate-names.ts';
import type { PeerCertificate } from '../authentication/authenticator.ts';
import type { Connections } from '../load/connections.ts';
import type { RequestEnv } from '../options.ts';
import { countedName, nodesGroup } from '../request/user.ts';
import { expiredCertificateOf } from './expired-certificate.ts';

/** Identity of the client of a connection. */
export type ConnectedClient = Pick<RequestEnv, 'peer' | 'expired' | 'remoteAddress' | 'belongsTo'>;

/** Reads each certificate once. */
export class ConnectedClients {
  readonly #connections: Connections;
  /** PEM of the authorities of client certificates. */
  readonly #authorities: string | Current<string>;
  readonly #certificates = new WeakMap<TLSSocket, PeerCertificate | undefined>();
  readonly #clients = new WeakMap<TLSSocket, ConnectedClient>();

  constructor(connections: Connections, authorities: string | Current<string>) {
    this.#connections = connections;
    this.#authorities = authorities;
  }

  /** Returns the subject of a verified certificate; undefined without one, and before the handshake ends. */
  peerOf(socket: TLSSocket): PeerCertificate | undefined {
    if (!this.#certificates.has(socket)) {
      // A handshake that exceeds its time can still end well: nothing is remembered before.
      if (socket.getPeerFinished() === undefined) return undefined;
      this.#certificates.set(socket, readPeer(socket));
    }
    return this.#certificates.get(socket);
  }

  /** Returns the same object for each request of a connection. */
  clientOf(socket: TLSSocket): ConnectedClient {
    const known = this.#clients.get(socket);
    if (known) return known;
    const peer = this.peerOf(socket);
    const expired = peer ? undefined : expiredCertificateOf(socket, latest(this.#authorities));
    const { remoteAddress } = socket;
    const client = {
      ...(peer && { peer }),
      ...(expired && { expired }),
      ...(remoteAddress && { remoteAddress: plainAddress(remoteAddress) }),
      belongsTo: (user: string) => this.#connections.belongsTo(socket, user),
    };
    this.#clients.set(socket, client);
    return client;
  }

  /**
   * Returns whether the connection may be used again after an answer with that status. A verified certificate
   * is enough for an answer that requires no user, such as the version.
   */
  readonly isKnown = (socket: TLSSocket, status: number): boolean => {
    if (!this.#connections.isStranger(socket)) return true;
    const name = this.peerOf(socket)?.commonName;
    return Boolean(name) && status !== 401 && this.#connections.belongsTo(socket, countedName(name ?? ''));
  };

  /**
   * Returns whether the client has no certificate and none of its requests has been authenticated. A verified
   * certificate is enough here; the first request reads the user from it.
   */
  readonly isStranger = (socket: TLSSocket): boolean =>
    !this.peerOf(socket) && this.#connections.isStranger(socket);

  /** Returns whether the client has presented the certificate of a node. */
  readonly isNode = (socket: TLSSocket): boolean =>
    this.peerOf(socket)?.organizations.includes(nodesGroup) ?? false;
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
  if (!socket.authorized) return undefined;
  const { raw, valid_to: end } = socket.getPeerCertificate() as Partial<NodeCertificate>;
  const holder = holderOf(raw);
  return holder && { ...holder, ...(end !== undefined && { notAfter: Date.parse(end) }) };
}
