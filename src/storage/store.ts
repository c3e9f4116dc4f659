/**
 * The contract of the durable store: a map from key to bytes with one global revision that grows with every
 * write. Implementations: etcd.ts and memory.ts, held to test/conformance/store.ts.
 *
 * - A write is acknowledged only when it is durable. A write whose answer was lost is settled by reading back;
 *   if even that fails the promise rejects with StoreUnavailableError and the outcome is unknown to the caller.
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
  /** At most this many, in key order; absent means all. */
  readonly limit?: number;
  /** Start at the first key greater than this one. */
  readonly startAfter?: string;
  /** Read this past revision; rejects with CompactedError when it is gone. */
  readonly revision?: number;
}

export interface ListResult {
  readonly items: readonly StoredValue[];
  /** The revision the answer is a snapshot of. */
  readonly revision: number;
  readonly more: boolean;
  /** Number of keys under the prefix that come after the last item. */
  readonly remaining: number;
}

/**
 * Names that only one object may hold (a cluster IP, a node port), taken or given back in the same transaction
 * as the write. Their keys lie outside `/registry/`, so that no watcher sees them. `acquire` fails the whole
 * write with ClaimTakenError when another owner has the key; taking a key one already owns is fine.
 */
export interface Claims {
  readonly acquire?: readonly Claim[];
  readonly release?: readonly string[];
  /** The write happens only while these are so; ClaimLostError otherwise. */
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
  /** In revision order; empty when the batch only says how far the store has come. */
  readonly events: readonly StoreEvent[];
  /** Everything up to and including this revision has been delivered. */
  readonly revision: number;
}

/** How full the store is. */
export interface StoreRoom {
  level(): RoomLevel;
  /** Bytes. */
  size(): number;
  /** Bytes that the database may take; undefined where that is not known. */
  quota(): number | undefined;
  /** Looks and makes room until the signal aborts. */
  keep(signal: AbortSignal): Promise<void>;
}

export interface Store {
  /** Linearizable read. */
  get(key: string): Promise<StoredValue | undefined>;
  /** Whose a claim is; undefined for nobody's. Linearizable. */
  ownerOf(claim: string): Promise<string | undefined>;
  /** Linearizable unless `revision` is given. */
  list(prefix: string, options?: ListOptions): Promise<ListResult>;
  /** The store's current revision, linearizable. */
  currentRevision(): Promise<number>;
  /**
   * A revision that is no lower than that of any write that anybody was told of, where that is known without asking: where only
   * this process writes, and while it hears from the store.
   */
  knownRevision?(): number | undefined;
  /** Resolves to the new revision; rejects with KeyExistsError. */
  create(key: string, value: Buffer, claims?: Claims): Promise<number>;
  /** Compare-and-swap; rejects with RevisionMismatchError when the key is gone or has another revision. */
  update(key: string, value: Buffer, expectedRevision: number, claims?: Claims): Promise<number>;
  /** Compare-and-delete; rejects as `update` does. Resolves to the revision of the deletion. */
  delete(key: string, expectedRevision: number, claims?: Claims): Promise<number>;
  /**
   * All writes under `prefix` (which ends in `/`) with a revision greater than `after`, each exactly once and in order,
   * across lost connections and restarts of the store. Ends when the signal aborts; throws CompactedError when the
   * history after `after` is no longer there.
   */
  watch(prefix: string, after: number, signal: AbortSignal): AsyncIterable<WatchBatch>;
  /** Asks every open watch for a batch that says how far it has come. */
  requestProgress(): void;
  /** Where what is stored is bounded. */
  readonly room?: StoreRoom;
  /** Forgets history before `revision`. */
  compact(revision: number): Promise<void>;
  close(): Promise<void>;
}

export class KeyExistsError extends Error {
  override readonly name = 'KeyExistsError';
}

export class RevisionMismatchError extends Error {
  override readonly name = 'RevisionMismatchError';
  /** What is there now; undefined when the key does not exist. */
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

/** A name that the writer had to hold is not its own, or not any more: nothing was written. */
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
  /** The oldest revision that can still be read, where the store reports it. */
  readonly compactRevision: number | undefined;
  constructor(message: string, compactRevision: number | undefined) {
    super(message);
    this.compactRevision = compactRevision;
  }
}

/** The store did not answer; for a write, whether it happened is unknown. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  /** What somebody has to do before it answers again, in one line. */
  readonly trouble: string | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly trouble?: string | undefined }) {
    super(message, options);
    this.trouble = options?.trouble;
  }
}

/** The store refused (value too large, quota used up, no permission): nothing was written, asking again is no use. */
export class StoreRejectedError extends Error {
  override readonly name: string = 'StoreRejectedError';
}

/** The value alone is why: it is larger than the store takes. */
export class ValueTooLargeError extends StoreRejectedError {
  override readonly name = 'ValueTooLargeError';
}
