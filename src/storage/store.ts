/**
 * The contract of the durable store: a map from key to bytes with one global revision that grows with every
 * write. Implementations: etcd.ts and memory.ts, both tested by test/conformance/store.ts.
 *
 * - A write is acknowledged only when it is durable. A write whose answer was lost is settled by reading
 *   back; if even that fails the promise rejects with StoreUnavailableError and the outcome is unknown to the
 *   caller.
 * - Each write has a revision of its own, so a watcher can resume after any event.
 */
import type { RoomLevel } from './room-plan.ts';

export interface StoredValue {
  readonly key: string;
  readonly value: Buffer;
  /** The revision of the last write to this key (etcd's mod_revision). */
  readonly revision: number;
}

export interface ListOptions {
  /** Maximum number of items, in key order; absent means all. */
  readonly limit?: number;
  /** Starts at the first key greater than this one. */
  readonly startAfter?: string;
  /** Reads this past revision; rejects with CompactedError if it is compacted. */
  readonly revision?: number;
}

export interface ListResult {
  readonly items: readonly StoredValue[];
  /** Revision of the snapshot that the answer contains. */
  readonly revision: number;
  readonly more: boolean;
  /** Number of keys under the prefix that come after the last item. */
  readonly remaining: number;
}

/**
 * Names that only one object may hold (a cluster IP, a node port), acquired or released in the same
 * transaction as the write. Their keys are outside `/registry/`, so that no watcher sees them. `acquire`
 * fails the whole write with ClaimTakenError if another owner has the key; acquiring a key that the owner
 * already has is allowed.
 */
export interface Claims {
  readonly acquire?: readonly Claim[];
  readonly release?: readonly string[];
  /** Claims that must be held for the write to happen; ClaimLostError otherwise. */
  readonly holding?: readonly Claim[];
}

export interface Claim {
  readonly key: string;
  readonly owner: string;
}

export type StoreEvent =
  | { readonly type: 'put'; readonly key: string; readonly value: Buffer; readonly revision: number }
  | { readonly type: 'delete'; readonly key: string; readonly revision: number };

export interface WatchBatch {
  /** Events in revision order; empty if the batch only reports the progress of the store. */
  readonly events: readonly StoreEvent[];
  /** Everything up to and including this revision has been delivered. */
  readonly revision: number;
}

/** Reports how full the store is. */
export interface StoreRoom {
  level(): RoomLevel;
  /** Returns the size in bytes. */
  size(): number;
  /** Returns the maximum size of the database in bytes; undefined if it is unknown. */
  quota(): number | undefined;
  /** Measures and makes room until the signal aborts. */
  keep(signal: AbortSignal): Promise<void>;
}

export interface Store {
  /** Linearizable read. */
  get(key: string): Promise<StoredValue | undefined>;
  /** Returns the owner of a claim; undefined if there is none. Linearizable. */
  ownerOf(claim: string): Promise<string | undefined>;
  /** Linearizable unless `revision` is given. */
  list(prefix: string, options?: ListOptions): Promise<ListResult>;
  /** Returns the store's current revision, linearizable. */
  currentRevision(): Promise<number>;
  /**
   * Returns a revision that includes every acknowledged write, if it is known without a request: if only this
   * process writes, and while it has an open watch on the store.
   */
  knownRevision?(): number | undefined;
  /** Returns, in one line, why the store does not answer at the moment; undefined if that is unknown. */
  problem?(): string | undefined;
  /** Creates a key. Resolves to the new revision; rejects with KeyExistsError. */
  create(key: string, value: Buffer, claims?: Claims): Promise<number>;
  /**
   * Compare-and-swap; rejects with RevisionMismatchError if the key does not exist or has another revision.
   */
  update(key: string, value: Buffer, expectedRevision: number, claims?: Claims): Promise<number>;
  /** Compare-and-delete; rejects as `update` does. Resolves to the revision of the deletion. */
  delete(key: string, expectedRevision: number, claims?: Claims): Promise<number>;
  /**
   * Yields all writes under `prefix` (which ends in `/`) with a revision greater than `after`, each exactly
   * once and in order, across lost connections and restarts of the store. Ends when the signal aborts; throws
   * CompactedError if the history after `after` no longer exists.
   */
  watch(prefix: string, after: number, signal: AbortSignal): AsyncIterable<WatchBatch>;
  /** Asks every open watch for a batch that reports its progress. */
  requestProgress(): void;
  /** Present if the store has a limited size. */
  readonly room?: StoreRoom;
  /** Removes history before `revision`. */
  compact(revision: number): Promise<void>;
  close(): Promise<void>;
}

export class KeyExistsError extends Error {
  override readonly name = 'KeyExistsError';
}

/** Returns the message of a failed compare-and-swap, the same for every store. */
export const mismatch = (key: string, expected: number, current: StoredValue | undefined): string =>
  current
    ? `${key} is at revision ${current.revision}, not ${expected}`
    : `${key} does not exist at revision ${expected}`;

export class RevisionMismatchError extends Error {
  override readonly name = 'RevisionMismatchError';
  /** The current value; undefined if the key does not exist. */
  readonly current: StoredValue | undefined;
  constructor(message: string, current: StoredValue | undefined) {
    super(message);
    this.current = current;
  }
}

export class ClaimTakenError extends Error {
  override readonly name = 'ClaimTakenError';
  readonly claim: string;
  constructor(message: string, claim: string) {
    super(message);
    this.claim = claim;
  }
}

/** A claim that the writer had to hold belongs to another owner: nothing was written. */
export class ClaimLostError extends Error {
  override readonly name = 'ClaimLostError';
  readonly claim: string;
  constructor(claim: Claim, owner: string | undefined) {
    super(`${claim.key} is held by ${owner ?? 'nobody'}, not by ${claim.owner}`);
    this.claim = claim.key;
  }
}

export class CompactedError extends Error {
  override readonly name = 'CompactedError';
  /** The oldest revision that can still be read, if the store reports it. */
  readonly compactRevision: number | undefined;
  constructor(message: string, compactRevision: number | undefined) {
    super(message);
    this.compactRevision = compactRevision;
  }
}

/** The store did not answer; it is unknown whether a write happened. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  /** One line that says what an administrator has to do before the store answers again. */
  readonly trouble: string | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly trouble?: string | undefined }) {
    super(message, options);
    this.trouble = options?.trouble;
  }
}

/**
 * The store rejected the request (value too large, quota used up, no permission): nothing was written, and a
 * retry is useless.
 */
export class StoreRejectedError extends Error {
  override readonly name: string = 'StoreRejectedError';
}

/** The store rejected a value because it is too large. */
export class ValueTooLargeError extends StoreRejectedError {
  override readonly name = 'ValueTooLargeError';
}
