/**
 * How many connections there are. Each costs tens of kilobytes before a request says whose it is, so those of
 * strangers are few and short: when there are too many the oldest gives way, as who has something to say has said it by
 * then. A connection is somebody's with its first request that is authenticated, and then counts as that user's.
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
  /** Unauthenticated connections from one address, without a certificate of the cluster. Nodes may share an address. */
  readonly anonymousOfAddress: number;
}

/** 1,000 nodes have a connection each, and may all come back in one moment. */
export const defaultConnections = 6000;

export const connectionLimits = (all: number): ConnectionLimits => ({
  all,
  user: Math.ceil(all / 4),
  strangers: Math.ceil(all / 4),
  anonymousOfAddress: Math.ceil(all / 16),
});

/** An unauthenticated connection is closed after this, whatever it does. */
const strangerMs = 30_000;
/**
 * The same with a certificate of the cluster: longer than the 90 s after which Go's client closes a connection that it dialled
 * and did not need.
 */
const certifiedMs = 180_000;

/** The part of a socket that is needed here. */
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
  /** Undefined when it was closed before it was accepted. */
  readonly address: string | undefined;
  user: string | undefined;
  timer: Timer | undefined;
  /** TLS is agreed on. */
  isSecured: boolean;
  isClosed: boolean;
}

/**
 * The socket below TLS and the one above it have these in common. All four: a client may connect from one port to two
 * addresses of this machine.
 */
const keyOf = ({ remoteAddress, remotePort, localAddress, localPort }: Connected) =>
  packKey(String(remoteAddress), String(remotePort), String(localAddress), String(localPort));

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #all = new Set<Entry>();
  /** Those that are open, by their addresses, until they are asked for by the socket above TLS. */
  readonly #byKey = new Map<string, Entry>();
  readonly #bySocket = new WeakMap<Connected, Entry>();
  /** Oldest first. */
  readonly #strangers = new Set<Entry>();
  readonly #anonymous = new Map<string | undefined, Set<Entry>>();
  readonly #ofUser = new Map<string, number>();

  constructor(limits: ConnectionLimits, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
  }

  /** A connection has been accepted; no byte has been read. */
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

  /** TLS is agreed on, without a certificate of the cluster. */
  isAnonymous(connection: Connected): void {
    const entry = this.#entryOf(connection);
    if (!entry || entry.user !== undefined) return;
    entry.isSecured = true;
    const others = this.#anonymous.get(entry.address) ?? new Set();
    if (others.size >= this.#limits.anonymousOfAddress) this.#endOldest(others);
    // Closing the last connection has removed the set.
    this.#anonymous.set(entry.address, others.add(entry));
  }

  /** TLS is agreed on, with a certificate of the cluster. */
  isCertified(connection: Connected): void {
    const entry = this.#entryOf(connection);
    if (!entry || entry.user !== undefined) return;
    entry.isSecured = true;
    this.#endAfter(certifiedMs, entry);
  }

  /** Assigns the connection to the user unless it is assigned already; false when the user has too many. */
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

  /** Closes the connections whose TLS handshake is not over. */
  endHandshakes(): void {
    for (const { isSecured, socket } of this.#all) if (!isSecured) socket.destroy();
  }

  /**
   * Closes every connection at once, also those that left HTTP and those whose client does not close its
   * side.
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

  /** Undefined for a connection that has been closed. */
  #entryOf(connection: Connected): Entry | undefined {
    const known = this.#bySocket.get(connection);
    if (known) return known.isClosed ? undefined : known;
    const entry = this.#byKey.get(keyOf(connection));
    if (entry) this.#bySocket.set(connection, entry);
    return entry;
  }

  /** What is closed is forgotten, also when another connection has the same addresses by then. */
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
