/**
 * The store in memory, for tests and temporary servers: same contract as etcd, nothing durable. It keeps
 * every version of every key until compacted, and compacts itself when the log exceeds `maxHistory`.
 */
import { countBefore, insertionPoint } from './sorted.ts';
import {
  ClaimLostError,
  type Claims,
  ClaimTakenError,
  CompactedError,
  KeyExistsError,
  type ListOptions,
  type ListResult,
  RevisionMismatchError,
  type Store,
  type StoredValue,
  type StoreEvent,
  StoreRejectedError,
  StoreUnavailableError,
  type WatchBatch,
} from './store.ts';

export interface MemoryStoreOptions {
  /** Number of writes after which the oldest are removed. */
  readonly maxHistory?: number;
}

interface Version {
  readonly revision: number;
  /** Undefined if this version is the deletion of the key. */
  readonly value: Buffer | undefined;
}

const maxBatch = 1000;

export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options.maxHistory ?? 200_000);
}

/** The methods are properties, because wrappers of a store spread it. */
class MemoryStore implements Store {
  readonly #maxHistory: number;
  /** Every key that has a version left, sorted. */
  readonly #keys: string[] = [];
  readonly #versions = new Map<string, Version[]>();
  readonly #claims = new Map<string, string>();
  #log: StoreEvent[] = [];
  #revision = 1;
  #compacted = 0;
  #closed = false;
  #wake = Promise.withResolvers<void>();
  #progressRequests = 0;

  constructor(maxHistory: number) {
    this.#maxHistory = maxHistory;
  }

  readonly ownerOf: Store['ownerOf'] = async (claim) => {
    this.#checkOpen();
    return this.#claims.get(claim) ?? this.#latest(claim)?.value.toString();
  };

  readonly get: Store['get'] = async (key) => {
    this.#checkOpen();
    return this.#latest(key);
  };

  readonly list = async (prefix: string, options: ListOptions = {}): Promise<ListResult> => {
    this.#checkOpen();
    const snapshot = options.revision ?? this.#revision;
    if (snapshot < this.#compacted) throw compactedError(snapshot, this.#compacted);
    if (snapshot > this.#revision) throw new StoreRejectedError(`revision ${snapshot} is in the future`);
    const from = options.startAfter === undefined ? prefix : `${options.startAfter}\0`;
    const found: StoredValue[] = [];
    for (let i = insertionPoint(this.#keys, from); this.#keys[i]?.startsWith(prefix); i++) {
      const item = this.#at(this.#keys[i] as string, snapshot);
      if (item) found.push(item);
    }
    const items = found.slice(0, options.limit);
    const remaining = found.length - items.length;
    return { items, revision: snapshot, more: remaining > 0, remaining };
  };

  readonly currentRevision: Store['currentRevision'] = async () => {
    this.#checkOpen();
    return this.#revision;
  };

  readonly create: Store['create'] = async (key, value, wanted) => {
    this.#checkOpen();
    if (this.#latest(key)) throw new KeyExistsError(`${key} already exists`);
    this.#checkClaims(wanted);
    return this.#commit((revision) => ({ type: 'put', key, value: Buffer.from(value), revision }), wanted);
  };

  readonly update: Store['update'] = async (key, value, expectedRevision, wanted) => {
    this.#checkOpen();
    this.#expect(key, expectedRevision);
    this.#checkClaims(wanted);
    return this.#commit((revision) => ({ type: 'put', key, value: Buffer.from(value), revision }), wanted);
  };

  readonly delete: Store['delete'] = async (key, expectedRevision, wanted) => {
    this.#checkOpen();
    this.#expect(key, expectedRevision);
    this.#checkClaims(wanted);
    return this.#commit((revision) => ({ type: 'delete', key, revision }), wanted);
  };

  readonly watch: Store['watch'] = (prefix, after, signal) => this.#watch(prefix, after, signal);

  readonly requestProgress = (): void => {
    this.#progressRequests++;
    this.#notify();
  };

  readonly compact: Store['compact'] = async (upTo) => {
    this.#checkOpen();
    if (upTo > this.#revision) throw new StoreRejectedError(`revision ${upTo} is in the future`);
    if (upTo > this.#compacted) this.#forget(upTo);
  };

  readonly close: Store['close'] = async () => {
    this.#closed = true;
    this.#notify();
  };

  /** Throws if events after the revision have been compacted. */
  #checkKept(revision: number): void {
    if (revision < this.#compacted) throw compactedError(revision + 1, this.#compacted);
  }

  async *#watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<WatchBatch> {
    let delivered = after;
    let answered = this.#progressRequests;
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    while (!signal.aborted) {
      this.#checkOpen();
      this.#checkKept(delivered);
      const next = this.#wake.promise;
      const { events, isLast } = this.#logAfter(delivered);
      const requests = isLast ? this.#progressRequests : answered;
      delivered = events.at(-1)?.revision ?? Math.max(delivered, this.#revision);
      const wanted = events.filter((event) => event.key.startsWith(prefix));
      const isDue = wanted.length > 0 || requests !== answered;
      answered = requests;
      if (isDue) yield { events: wanted, revision: delivered };
      else if (events.length === 0) await Promise.race([next, aborted]);
    }
  }

  /** Returns at most `maxBatch` events after a revision, and whether they end the log. */
  #logAfter(revision: number): { readonly events: readonly StoreEvent[]; readonly isLast: boolean } {
    const log = this.#log;
    const from = countBefore(log.length, (index) => (log[index] as StoreEvent).revision <= revision);
    const events = log.slice(from, from + maxBatch);
    return { events, isLast: from + events.length >= log.length };
  }

  #notify(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }

  #checkOpen(): void {
    if (this.#closed) throw new StoreUnavailableError('the store is closed');
  }

  #latest(key: string): StoredValue | undefined {
    return this.#at(key, this.#revision);
  }

  #at(key: string, limit: number): StoredValue | undefined {
    const version = this.#versions.get(key)?.findLast((candidate) => candidate.revision <= limit);
    if (!version?.value) return undefined;
    return { key, value: version.value, revision: version.revision };
  }

  #record(event: StoreEvent): void {
    let history = this.#versions.get(event.key);
    if (!history) {
      history = [];
      this.#versions.set(event.key, history);
      this.#keys.splice(insertionPoint(this.#keys, event.key), 0, event.key);
    }
    history.push({ revision: event.revision, value: event.type === 'put' ? event.value : undefined });
    this.#log.push(event);
  }

  #forget(upTo: number): void {
    this.#compacted = upTo;
    this.#log = this.#log.filter((event) => event.revision > upTo);
    for (const [key, history] of this.#versions) {
      const latest = history.findLastIndex((version) => version.revision <= upTo);
      history.splice(0, history[latest]?.value ? latest : latest + 1);
      if (history.length > 0) continue;
      this.#versions.delete(key);
      this.#keys.splice(insertionPoint(this.#keys, key), 1);
    }
  }

  #checkClaims(wanted: Claims | undefined): void {
    for (const { key, owner } of wanted?.acquire ?? []) {
      const holder = this.#claims.get(key);
      if (holder !== undefined && holder !== owner) {
        throw new ClaimTakenError(`${key} is taken by ${holder}`, key);
      }
    }
    for (const claim of wanted?.holding ?? []) {
      const holder = this.#claims.get(claim.key) ?? this.#latest(claim.key)?.value.toString();
      if (holder !== claim.owner) throw new ClaimLostError(claim, holder);
    }
  }

  #commit(make: (revision: number) => StoreEvent, wanted: Claims | undefined): number {
    for (const { key, owner } of wanted?.acquire ?? []) this.#claims.set(key, owner);
    for (const key of wanted?.release ?? []) this.#claims.delete(key);
    this.#revision++;
    this.#record(make(this.#revision));
    const log = this.#log;
    if (log.length > this.#maxHistory) this.#forget((log[log.length >> 1] as StoreEvent).revision);
    this.#notify();
    return this.#revision;
  }

  #expect(key: string, expected: number): void {
    const current = this.#latest(key);
    if (current?.revision !== expected) {
      throw new RevisionMismatchError(mismatch(key, expected, current), current);
    }
  }
}

/** Returns the message of a failed compare-and-swap, the same for every store. */
export function mismatch(key: string, expected: number, current: StoredValue | undefined): string {
  return current
    ? `${key} is at revision ${current.revision}, not ${expected}`
    : `${key} does not exist at revision ${expected}`;
}

function compactedError(wanted: number, compacted: number): CompactedError {
  return new CompactedError(`revision ${wanted} is gone; the oldest kept is ${compacted}`, compacted);
}
