/**
 * Limits the number of connections. Each takes tens of kilobytes before a request authenticates it, so
 * unauthenticated connections are few and short: at the limit the oldest is closed, because its client has
 * had the most time to send a request. The first authenticated request of a connection assigns it to its
 * user, whose limit applies from then on.
 */

import type { Clock, Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { packKey } from '../../base/packed-key.ts';

export interface ConnectionLimits {
  readonly all: number;
  /** Connections of one user. */
  readonly user: number;
  /** Unauthenticated connections. */
  readonly strangers: number;
  /**
   * Unauthenticated connections from one address, without a certificate of the cluster. Nodes may share an
   * address.
   */
  readonly anonymousOfAddress: number;
}

/** 1,000 nodes have a connection each, and may all reconnect at the same moment. */
export const defaultConnections = 6000;

export const connectionLimits = (all: number): ConnectionLimits => ({
  all,
  user: Math.ceil(all / 4),
  strangers: Math.ceil(all / 4),
  anonymousOfAddress: Math.ceil(all / 16),
});

/** Time after which an unauthenticated connection is closed, even if it is in use. */
const strangerMs = 30_000;
/**
 * Time after which a connection with a certificate of the cluster is closed if it is still unauthenticated.
 * Longer than the 90 s after which Go's client closes an unused connection.
 */
const certifiedMs = 180_000;

/** The part of a socket that identifies its connection. */
export interface Connected {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

export interface RawConnection extends Connected {
  once(event: 'close', fn: () => void): unknown;
  destroy(): unknown;
}

interface Entry {
  readonly socket: RawConnection;
  readonly key: string;
  /** Undefined if the connection was closed before it was accepted. */
  readonly address: string | undefined;
  user: string | undefined;
  timer: Timer | undefined;
  /** True if the TLS handshake has finished. */
  isSecured: boolean;
  isClosed: boolean;
}

/**
 * Returns the key that the TCP socket and its TLS socket have in common. All four parts are needed: a client
 * may connect from one port to two addresses of this machine.
 */
const keyOf = ({ remoteAddress, remotePort, localAddress, localPort }: Connected) =>
  packKey(String(remoteAddress), String(remotePort), String(localAddress), String(localPort));

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #all = new Set<Entry>();
  /** Open connections by their addresses, until the TLS socket is first looked up. */
  readonly #byKey = new Map<string, Entry>();
  readonly #bySocket = new WeakMap<Connected, Entry>();
  /** Unauthenticated connections, oldest first. */
  readonly #strangers = new Set<Entry>();
  readonly #anonymous = new Map<string | undefined, Set<Entry>>();
  readonly #ofUser = new Map<string, number>();

  constructor(limits: ConnectionLimits, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
  }

  /** Registers an accepted connection, of which no byte has been read. */
  accept(socket: RawConnection): void {
    if (this.#strangers.size >= this.#limits.strangers) this.#endOldest(this.#strangers);
    if (this.#all.size >= this.#limits.all) {
      this.#log.debug('too many connections', { limit: this.#limits.all });
      if (this.#strangers.size === 0) {
        socket.destroy();
        return;
      }
      this.#endOldest(this.#strangers);
    }
    const key = keyOf(socket);
    const address = socket.remoteAddress;
    const entry: Entry = {
      socket,
      key,
      address,
      user: undefined,
      timer: undefined,
      isSecured: false,
      isClosed: false,
    };
    this.#all.add(entry);
    this.#byKey.set(key, entry);
    this.#strangers.add(entry);
    this.#endAfter(strangerMs, entry);
    socket.once('close', () => this.#forget(entry));
  }

  /** Called after a TLS handshake without a certificate of the cluster. */
  isAnonymous(connection: Connected): void {
    const entry = this.#entryOf(connection);
    if (!entry || entry.user !== undefined) return;
    entry.isSecured = true;
    const others = this.#anonymous.get(entry.address) ?? new Set();
    if (others.size >= this.#limits.anonymousOfAddress) this.#endOldest(others);
    // Closing the last connection has removed the set.
    this.#anonymous.set(entry.address, others.add(entry));
  }

  /** Called after a TLS handshake with a certificate of the cluster. */
  isCertified(connection: Connected): void {
    const entry = this.#entryOf(connection);
    if (!entry || entry.user !== undefined) return;
    entry.isSecured = true;
    this.#endAfter(certifiedMs, entry);
  }

  /**
   * Assigns the connection to the user unless it is assigned already. Returns false if the user has too many
   * connections.
   */
  belongsTo(connection: Connected, user: string): boolean {
    const entry = this.#entryOf(connection);
    if (!entry || entry.user !== undefined) return true;
    const own = this.#ofUser.get(user) ?? 0;
    if (own >= this.#limits.user) return false;
    this.#leaveStrangers(entry);
    entry.user = user;
    this.#ofUser.set(user, own + 1);
    return true;
  }

  isStranger(connection: Connected): boolean {
    return this.#entryOf(connection)?.user === undefined;
  }

  /** Closes the connections whose TLS handshake has not finished. */
  endHandshakes(): void {
    for (const { isSecured, socket } of this.#all) if (!isSecured) socket.destroy();
  }

  /**
   * Closes every connection at once, including upgraded ones and those whose client does not close its side.
   */
  endAll(): void {
    for (const { socket } of this.#all) socket.destroy();
  }

  #endOldest(entries: ReadonlySet<Entry>): void {
    for (const oldest of entries) {
      this.#forget(oldest);
      oldest.socket.destroy();
      return;
    }
  }

  #leaveStrangers(entry: Entry): void {
    entry.timer?.cancel();
    this.#strangers.delete(entry);
    const others = this.#anonymous.get(entry.address);
    others?.delete(entry);
    if (others?.size === 0) this.#anonymous.delete(entry.address);
  }

  #endAfter(ms: number, entry: Entry): void {
    entry.timer?.cancel();
    entry.timer = this.#clock.after(ms, () => entry.socket.destroy());
  }

  /** Returns undefined for a connection that has been closed. */
  #entryOf(connection: Connected): Entry | undefined {
    const known = this.#bySocket.get(connection);
    if (known) return known.isClosed ? undefined : known;
    const entry = this.#byKey.get(keyOf(connection));
    if (entry) this.#bySocket.set(connection, entry);
    return entry;
  }

  /** Removes a closed connection, even if another connection has the same addresses by then. */
  #forget(entry: Entry): void {
    if (entry.isClosed) return;
    entry.isClosed = true;
    this.#all.delete(entry);
    if (this.#byKey.get(entry.key) === entry) this.#byKey.delete(entry.key);
    this.#leaveStrangers(entry);
    if (entry.user === undefined) return;
    const left = (this.#ofUser.get(entry.user) ?? 0) - 1;
    if (left > 0) this.#ofUser.set(entry.user, left);
    else this.#ofUser.delete(entry.user);
  }
}
