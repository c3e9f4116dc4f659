/**
 * The watch cache: one list and one watch of the store serve every reader and watcher of the API. See
 * cache.ts.
 *
 * `run` lists (a little of the past: cache-start.ts), applies the watch, and resumes it. It only lists
 * again if the store no longer has the history; that list moves with the store (moving-list.ts). Then the
 * difference is applied without events, and watchers of changed prefixes are expired so that they list
 * again, since the events in between are unknown.
 */
import { Backoff } from '../base/backoff.ts';
import { type Clock, nextTurn, sleep, type Timer } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Cache, CachedObject, CacheEvent } from './cache.ts';
import { firstPage } from './cache-start.ts';
import { DecodedBudget, listedObject, makeEvent } from './cached-object.ts';
import { defaultHistoryLimits, EventHistory, type HistoryLimits } from './event-history.ts';
import { listMoving } from './moving-list.ts';
import { ObjectIndex } from './object-index.ts';
import {
  CompactedError,
  type Store,
  type StoredValue,
  type StoreEvent,
  StoreUnavailableError,
  type WatchBatch,
} from './store.ts';
import { WatchBuffer } from './watch-buffer.ts';
import { Watchers } from './watchers.ts';

export interface WatchCacheOptions {
  readonly store: Store;
  /** `/registry/`, with the closing slash. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly history?: HistoryLimits;
  /** Maximum number of bytes of JSON whose decoded form is kept; 8 MiB by default. */
  readonly decodedBytes?: number;
  /** Measures the work that occupies the event loop; by default nothing is measured. */
  readonly loopMeter?: LoopMeter;
}

export interface WatchCache {
  readonly cache: Cache;
  /** Keeps the cache current until the signal aborts. Called once. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Resolves when everything that was written before the start has been applied; rejects if `run` ends
   * before.
   */
  readonly synced: Promise<void>;
}

/**
 * An event usually arrives within a millisecond; only after this time is the store asked for its progress.
 */
const firstProgressMs = 2;
/** Factor by which the interval grows, up to the maximum, while the store has not reached the revision. */
const progressGrowth = 4;
const maxProgressMs = 100;
const retry = { initialMs: 50, maxMs: 2_000 };
const listPage = 2500;
/**
 * Number of waiting readers that resume in one turn of the event loop: thousands of reads that wait for one
 * event would hold the loop until all are answered.
 */
const readersOfOneTurn = 16;

/** A list of the store, and the changes after it. */
interface Followed {
  readonly listed: ReadonlyMap<string, CachedObject>;
  readonly reached: number;
  readonly changes: AsyncIterable<WatchBatch>;
}

interface Waiter {
  readonly revision: number;
  resolve(): void;
  reject(reason: unknown): void;
}

export function createWatchCache(options: WatchCacheOptions): WatchCache {
  const { store, prefix, clock } = options;
  const log = options.log.named('watch-cache');
  const budget = new DecodedBudget(options.decodedBytes ?? 8 << 20);
  const index = new ObjectIndex((key, error) => {
    log.error('an object cannot be read for an index and is not found by it; correct or delete it', {
      key,
      error: errorMessage(error),
    });
  });
  const history = new EventHistory(options.history ?? defaultHistoryLimits);
  const watchers = new Watchers(clock, log, options.loopMeter);
  const waiters = new Set<Waiter>();
  const synced = Promise.withResolvers<void>();
  // An unhandled rejection would end the process.
  synced.promise.catch(() => undefined);
  let revision = 0;
  let stopped = false;
  let progressTimer: Timer | undefined;

  const resume = async (reached: readonly Waiter[]) => {
    for (const waiter of reached) waiters.delete(waiter);
    for (const [at, waiter] of reached.entries()) {
      if (at > 0 && at % readersOfOneTurn === 0) {
        await nextTurn(clock);
        options.loopMeter?.turned();
      }
      waiter.resolve();
    }
  };

  /** Called when the cache's revision has advanced. */
  const advance = () => {
    void resume([...waiters].filter((waiter) => waiter.revision <= revision));
    progressTimer?.cancel();
    progressTimer = undefined;
    // A waiter that arrived after a progress request gets one of its own, without the longer interval of
    // earlier waiters.
    if (waiters.size > 0) awaitProgress(firstProgressMs);
  };

  const awaitProgress = (ms: number) => {
    progressTimer = clock.after(ms, () => {
      store.requestProgress();
      awaitProgress(Math.min(ms * progressGrowth, maxProgressMs));
    });
  };

  /** Returns undefined, and logs, if the value of the key is no object. */
  const ifObject = <T>(key: string, make: () => T): T | undefined => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      log.error('the value of a key is not a Kubernetes object and is ignored; delete the key', {
        key,
        error: errorMessage(error),
      });
    }
  };

  const applyBatch = (events: readonly StoreEvent[], reached: number) => {
    const now = clock.now();
    const applied: CacheEvent[] = [];
    for (const event of events) {
      const made = ifObject(event.key, () => applyEvent(index, event, budget));
      if (!made) {
        index.delete(event.key);
        continue;
      }
      history.add(made, now);
      applied.push(made);
    }
    // Readers that wait for a revision must be able to read it before watchers get its event.
    revision = reached;
    watchers.publish(applied, revision);
    advance();
  };

  const decodeListed = ({ key, value, revision: modified }: StoredValue): CachedObject => {
    const known = index.get(key);
    const listed = listedObject(key, value, modified, budget);
    // A store that lost its data may have another object at the same revision.
    return known?.revision === modified && known.bytes.equals(listed.bytes) ? known : listed;
  };

  /** Lists the store at one revision, and watches it from there. */
  const listOnce = async (signal: AbortSignal): Promise<Followed> => {
    const listed = new Map<string, CachedObject>();
    let page =
      revision === 0
        ? await firstPage(store, prefix, listPage)
        : await store.list(prefix, { limit: listPage });
    const reached = page.revision;
    for (;;) {
      signal.throwIfAborted();
      addTo(listed, page.items);
      const last = page.items.at(-1);
      if (!page.more || !last) break;
      page = await store.list(prefix, { limit: listPage, revision: reached, startAfter: last.key });
    }
    return { listed, reached, changes: store.watch(prefix, reached, signal) };
  };

  const listWhileCompacted = async (signal: AbortSignal): Promise<Followed> => {
    const changes = new WatchBuffer(store.watch(prefix, await store.currentRevision(), signal));
    const { items, revision: reached } = await listMoving(store, prefix, changes, { clock, signal });
    const listed = new Map<string, CachedObject>();
    addTo(listed, items.values());
    return { listed, reached, changes: changes.rest() };
  };

  const addTo = (listed: Map<string, CachedObject>, items: Iterable<StoredValue>) => {
    for (const item of items) {
      const object = ifObject(item.key, () => decodeListed(item));
      if (object) listed.set(item.key, object);
    }
  };

  /** Makes the cache equal to the list. */
  const replace = ({ listed, reached }: Followed) => {
    const changed = replaceAll(index, listed);
    // A store that lost its data starts counting again: no watcher can continue.
    const wentBack = reached < revision;
    history.restart(reached);
    revision = reached;
    watchers.expire((watched) => wentBack || changed.some((key) => key.startsWith(watched)));
    advance();
    log.debug('listed the store', { revision, objects: index.size });
  };

  /**
   * Lists once and then watches, until the history is lost (then it throws CompactedError), the watch
   * fails, or the signal aborts.
   */
  const follow = async (signal: AbortSignal, isCompacted: boolean): Promise<void> => {
    const ended = new AbortController();
    const both = AbortSignal.any([signal, ended.signal]);
    try {
      if (revision === 0) {
        const now = await store.currentRevision();
        cache.waitUntil(now, signal).then(synced.resolve, () => undefined);
      }
      const followed = isCompacted ? await listWhileCompacted(both) : await listOnce(both);
      replace(followed);
      for await (const batch of followed.changes) applyBatch(batch.events, batch.revision);
    } finally {
      ended.abort();
    }
  };

  const stop = () => {
    stopped = true;
    progressTimer?.cancel();
    const reason = new StoreUnavailableError('the watch cache has stopped');
    for (const waiter of [...waiters]) waiter.reject(reason);
    synced.reject(reason);
  };

  const cache: Cache = {
    get revision() {
      return revision;
    },
    waitUntil(wanted, signal) {
      if (wanted <= revision) return Promise.resolve();
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (stopped) return Promise.reject(new StoreUnavailableError('the watch cache has stopped'));
      if (!progressTimer) awaitProgress(firstProgressMs);
      return waitFor(waiters, wanted, signal);
    },
    get: (key) => index.get(key),
    list: (listed) => index.list(listed),
    namespaceBytes: (namespace) => index.namespaceBytes(namespace),
    index: (declaration) => index.secondary(declaration),
    watch(watched, after, watch) {
      const start = history.startOf(watched);
      if (after < start) {
        throw new CompactedError(`revision ${after} is gone; the oldest kept is ${start}`, start);
      }
      return watchers.add(watched, after, history.after(after, watched), watch);
    },
  };

  return {
    cache,
    synced: synced.promise,
    async run(signal) {
      const backoff = new Backoff(retry);
      let isCompacted = false;
      while (!signal.aborted) {
        const before = revision;
        try {
          await follow(signal, isCompacted);
          isCompacted = false;
        } catch (error) {
          isCompacted = error instanceof CompactedError;
          if (isCompacted)
            log.warn('the store compacted history that was still needed, listing again', { revision });
          else if (!signal.aborted)
            log.error('the watch of the store failed, trying again', { error: errorMessage(error) });
        }
        if (revision > before) backoff.reset();
        await sleep(clock, backoff.next(), signal).catch(() => undefined);
      }
      stop();
    },
  };
}

function waitFor(waiters: Set<Waiter>, revision: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const end = () => {
    waiters.delete(waiter);
    signal?.removeEventListener('abort', onAbort);
  };
  const onAbort = () => waiter.reject(signal?.reason);
  const waiter: Waiter = {
    revision,
    resolve() {
      end();
      resolve();
    },
    reject(reason) {
      end();
      reject(reason);
    },
  };
  waiters.add(waiter);
  signal?.addEventListener('abort', onAbort);
  return promise;
}

/**
 * Applies one event of the store; returns undefined if it changes nothing (the deletion of an object that the
 * cache does not have).
 */
function applyEvent(index: ObjectIndex, event: StoreEvent, budget: DecodedBudget): CacheEvent | undefined {
  const previous = index.get(event.key);
  if (event.type === 'delete') {
    if (!previous) return undefined;
    index.delete(event.key);
    return makeEvent('DELETED', event.key, previous.bytes, event.revision, previous, budget);
  }
  const type = previous ? 'MODIFIED' : 'ADDED';
  const made = makeEvent(type, event.key, event.value, event.revision, previous, budget);
  index.set(made.current);
  return made;
}

/** Makes `index` contain exactly `listed`; returns the keys that changed. */
function replaceAll(index: ObjectIndex, listed: ReadonlyMap<string, CachedObject>): string[] {
  const changed: string[] = [];
  for (const key of [...index.keys()]) {
    if (listed.has(key)) continue;
    changed.push(key);
    index.delete(key);
  }
  for (const [key, object] of listed) {
    if (index.get(key) === object) continue;
    changed.push(key);
    index.set(object);
  }
  return changed;
}
