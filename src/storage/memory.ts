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

const largestBatch = 1000;

export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const maxHistory = options.maxHistory ?? 200_000;
  /** Every key that has a version left, sorted. */
  const keys: string[] = [];
  const versions = new Map<string, Version[]>();
  const claims = new Map<string, string>();
  let log: StoreEvent[] = [];
  let revision = 1;
  let compacted = 0;
  let closed = false;
  let wake = Promise.withResolvers<void>();
  let progressRequests = 0;

  const notify = () => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  const checkOpen = () => {
    if (closed) throw new StoreUnavailableError('the store is closed');
  };
  const at = (key: string, limit: number): StoredValue | undefined => {
    const version = versions.get(key)?.findLast((candidate) => candidate.revision <= limit);
    if (!version?.value) return undefined;
    return { key, value: version.value, revision: version.revision };
  };
  const record = (event: StoreEvent) => {
    let history = versions.get(event.key);
    if (!history) {
      history = [];
      versions.set(event.key, history);
      keys.splice(insertionPoint(keys, event.key), 0, event.key);
    }
    history.push({ revision: event.revision, value: event.type === 'put' ? event.value : undefined });
    log.push(event);
  };
  const forget = (upTo: number) => {
    compacted = upTo;
    log = log.filter((event) => event.revision > upTo);
    for (const [key, history] of versions) {
      const latest = history.findLastIndex((version) => version.revision <= upTo);
      history.splice(0, history[latest]?.value ? latest : latest + 1);
      if (history.length > 0) continue;
      versions.delete(key);
      keys.splice(insertionPoint(keys, key), 1);
    }
  };
  const checkClaims = (wanted: Claims | undefined) => {
    for (const { key, owner } of wanted?.acquire ?? []) {
      const holder = claims.get(key);
      if (holder !== undefined && holder !== owner) {
        throw new ClaimTakenError(`${key} is taken by ${holder}`, key);
      }
    }
    for (const claim of wanted?.holding ?? []) {
      const holder = claims.get(claim.key) ?? at(claim.key, revision)?.value.toString();
      if (holder !== claim.owner) throw new ClaimLostError(claim, holder);
    }
  };
  const commit = (make: (revision: number) => StoreEvent, wanted: Claims | undefined): number => {
    for (const { key, owner } of wanted?.acquire ?? []) claims.set(key, owner);
    for (const key of wanted?.release ?? []) claims.delete(key);
    revision++;
    record(make(revision));
    if (log.length > maxHistory) forget((log[log.length >> 1] as StoreEvent).revision);
    notify();
    return revision;
  };
  const expect = (key: string, expected: number) => {
    const current = at(key, revision);
    if (current?.revision !== expected) {
      throw new RevisionMismatchError(mismatch(key, expected, current), current);
    }
  };

  async function* watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<WatchBatch> {
    let delivered = after;
    let answered = progressRequests;
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    while (!signal.aborted) {
      checkOpen();
      if (delivered < compacted) throw compactedError(delivered + 1, compacted);
      const next = wake.promise;
      const from = countBefore(log.length, (index) => (log[index] as StoreEvent).revision <= delivered);
      const slice = log.slice(from, from + largestBatch);
      const reached = slice.at(-1)?.revision ?? Math.max(delivered, revision);
      const events = slice.filter((event) => event.key.startsWith(prefix));
      const asked = answered !== progressRequests && from + slice.length >= log.length;
      if (asked) answered = progressRequests;
      delivered = reached;
      if (events.length > 0 || asked) yield { events, revision: reached };
      else if (slice.length === 0) await Promise.race([next, aborted]);
    }
  }

  return {
    async ownerOf(claim) {
      checkOpen();
      return claims.get(claim) ?? at(claim, revision)?.value.toString();
    },
    async get(key) {
      checkOpen();
      return at(key, revision);
    },
    async list(prefix: string, listOptions: ListOptions = {}): Promise<ListResult> {
      checkOpen();
      const snapshot = listOptions.revision ?? revision;
      if (snapshot < compacted) throw compactedError(snapshot, compacted);
      if (snapshot > revision) throw new StoreRejectedError(`revision ${snapshot} is in the future`);
      const from = listOptions.startAfter === undefined ? prefix : `${listOptions.startAfter}\0`;
      const found: StoredValue[] = [];
      for (let i = insertionPoint(keys, from); keys[i]?.startsWith(prefix); i++) {
        const item = at(keys[i] as string, snapshot);
        if (item) found.push(item);
      }
      const items = found.slice(0, listOptions.limit);
      const remaining = found.length - items.length;
      return { items, revision: snapshot, more: remaining > 0, remaining };
    },
    async currentRevision() {
      checkOpen();
      return revision;
    },
    async create(key, value, wanted) {
      checkOpen();
      if (at(key, revision)) throw new KeyExistsError(`${key} already exists`);
      checkClaims(wanted);
      return commit((next) => ({ type: 'put', key, value: Buffer.from(value), revision: next }), wanted);
    },
    async update(key, value, expectedRevision, wanted) {
      checkOpen();
      expect(key, expectedRevision);
      checkClaims(wanted);
      return commit((next) => ({ type: 'put', key, value: Buffer.from(value), revision: next }), wanted);
    },
    async delete(key, expectedRevision, wanted) {
      checkOpen();
      expect(key, expectedRevision);
      checkClaims(wanted);
      return commit((next) => ({ type: 'delete', key, revision: next }), wanted);
    },
    watch,
    requestProgress() {
      progressRequests++;
      notify();
    },
    async compact(upTo) {
      checkOpen();
      if (upTo > revision) throw new StoreRejectedError(`revision ${upTo} is in the future`);
      if (upTo > compacted) forget(upTo);
    },
    async close() {
      closed = true;
      notify();
    },
  };
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
