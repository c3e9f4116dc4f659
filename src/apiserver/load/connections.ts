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

/** The part of a socket that is needed here. */
export interface Connected {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

export interface RawConnection extends Connected {
  once(event: 'close', fn: () => void): unknown;
  destroy(): unknown;
}

interface Entry {
  readonly socket: RawConnection;
  /** Undefined when it was closed before it was accepted. */
  readonly address: string | undefined;
  user: string | undefined;
  timer: Timer | undefined;
}

/** The socket below TLS and the one above it have these in common. */
const keyOf = ({ remoteAddress, remotePort }: Connected) =>
  packKey(String(remoteAddress), String(remotePort));

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #entries = new Map<string, Entry>();
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
    if (this.#entries.size >= this.#limits.all) {
      this.#log.debug('too many connections', { limit: this.#limits.all });
      if (this.#strangers.size === 0) {
        socket.destroy();
        return;
      }
      this.#endOldest(this.#strangers);
    }
    const key = keyOf(socket);
    const address = socket.remoteAddress;
    const entry: Entry = { socket, address, user: undefined, timer: undefined };
    this.#entries.set(key, entry);
    this.#strangers.add(entry);
    entry.timer = this.#clock.after(strangerMs, () => socket.destroy());
    socket.once('close', () => this.#forget(key, entry));
  }

  /** TLS is agreed on, without a certificate of the cluster. */
  isAnonymous(connection: Connected): void {
    const entry = this.#entries.get(keyOf(connection));
    if (!entry || entry.user !== undefined) return;
    const others = this.#anonymous.get(entry.address) ?? new Set();
    if (others.size >= this.#limits.anonymousOfAddress) this.#endOldest(others);
    // Closing the last connection has removed the set.
    this.#anonymous.set(entry.address, others.add(entry));
  }

  /** Assigns the connection to the user unless it is assigned already; false when the user has too many. */
  belongsTo(connection: Connected, user: string): boolean {
    const entry = this.#entries.get(keyOf(connection));
    if (!entry || entry.user !== undefined) return true;
    const own = this.#ofUser.get(user) ?? 0;
    if (own >= this.#limits.user) return false;
    this.#leaveStrangers(entry);
    entry.user = user;
    this.#ofUser.set(user, own + 1);
    return true;
  }

  isStranger(connection: Connected): boolean {
    return this.#entries.get(keyOf(connection))?.user === undefined;
  }

  #endOldest(entries: ReadonlySet<Entry>): void {
    for (const oldest of entries) {
      this.#forget(keyOf(oldest.socket), oldest);
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

  #forget(key: string, entry: Entry): void {
    if (this.#entries.get(key) !== entry) return;
    this.#entries.delete(key);
    this.#leaveStrangers(entry);
    if (entry.user === undefined) return;
    const left = (this.#ofUser.get(entry.user) ?? 0) - 1;
    if (left > 0) this.#ofUser.set(entry.user, left);
    else this.#ofUser.delete(entry.user);
  }
}
