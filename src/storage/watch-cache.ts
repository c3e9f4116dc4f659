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
import type { Clock } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import { keepDoing } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Cache, CachedObject, CacheEvent } from './cache.ts';
import { firstPage } from './cache-start.ts';
import { DecodedBudget, listedObject, makeEvent } from './cached-object.ts';
import { defaultHistoryLimits, EventHistory, type HistoryLimits } from './event-history.ts';
import { listMoving } from './moving-list.ts';
import { ObjectIndex } from './object-index.ts';
import { RevisionWaits } from './revision-waits.ts';
import { CompactedError, type Store, type StoredValue, type StoreEvent, type WatchBatch } from './store.ts';
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

const retry = { initialMs: 50, maxMs: 2_000 };
const listPage = 2500;

/** A list of the store, and the changes after it. */
interface Followed {
  readonly listed: ReadonlyMap<string, CachedObject>;
  readonly reached: number;
  readonly changes: AsyncIterable<WatchBatch>;
}

export function createWatchCache(options: WatchCacheOptions): WatchCache {
  const { clock, store } = options;
  const log = options.log.named('watch-cache');
  const index = new ObjectIndex((key, error) => {
    log.error('an object cannot be read for an index and is not found by it; correct or delete it', {
      key,
      error: errorMessage(error),
    });
  });
  const history = new EventHistory(options.history ?? defaultHistoryLimits);
  const watchers = new Watchers(clock, log, options.loopMeter);
  const waits = new RevisionWaits(clock, store, options.loopMeter);
  const copy = new StoreCopy(options, { log, index, history, watchers, waits });
  const cache: Cache = {
    get revision() {
      return copy.revision;
    },
    waitUntil: (wanted, signal) => copy.waitUntil(wanted, signal),
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
  return { cache, synced: copy.synced, run: (signal) => copy.run(signal) };
}

interface CopyParts {
  readonly log: Logger;
  readonly index: ObjectIndex;
  readonly history: EventHistory;
  readonly watchers: Watchers;
  readonly waits: RevisionWaits;
}

/** Keeps the objects, the history and the watchers of a cache equal to the store. */
class StoreCopy {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #budget: DecodedBudget;
  readonly #index: ObjectIndex;
  readonly #history: EventHistory;
  readonly #watchers: Watchers;
  readonly #waits: RevisionWaits;
  readonly #synced = Promise.withResolvers<void>();
  #revision = 0;

  constructor({ store, prefix, clock, decodedBytes }: WatchCacheOptions, parts: CopyParts) {
    this.#store = store;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#log = parts.log;
    this.#budget = new DecodedBudget(decodedBytes ?? 8 << 20);
    this.#index = parts.index;
    this.#history = parts.history;
    this.#watchers = parts.watchers;
    this.#waits = parts.waits;
    // An unhandled rejection would end the process.
    this.#synced.promise.catch(() => undefined);
  }

  get revision(): number {
    return this.#revision;
  }

  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  waitUntil(wanted: number, signal?: AbortSignal): Promise<void> {
    return wanted <= this.#revision ? Promise.resolve() : this.#waits.wait(wanted, signal);
  }

  async run(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(retry);
    let before = this.#revision;
    let isCompacted = false;
    const restMs = () => {
      if (this.#revision > before) backoff.reset();
      return backoff.next();
    };
    const onError = (error: unknown) => {
      isCompacted = error instanceof CompactedError;
      if (isCompacted)
        this.#log.warn('the store compacted history that was still needed, listing again', {
          revision: this.#revision,
        });
      else this.#log.error('the watch of the store failed, trying again', { error: errorMessage(error) });
    };
    await keepDoing({ clock: this.#clock, signal, restMs, onError }, async () => {
      before = this.#revision;
      await this.#follow(signal, isCompacted);
      isCompacted = false;
    });
    this.#synced.reject(this.#waits.stop());
  }

  /**
   * Lists once and then watches, until the history is lost (then it throws CompactedError), the watch fails,
   * or the signal aborts.
   */
  async #follow(signal: AbortSignal, isCompacted: boolean): Promise<void> {
    const ended = new AbortController();
    const both = AbortSignal.any([signal, ended.signal]);
    try {
      if (this.#revision === 0) {
        const now = await this.#store.currentRevision();
        this.waitUntil(now, signal).then(this.#synced.resolve, () => undefined);
      }
      const followed = isCompacted ? await this.#listWhileCompacted(both) : await this.#listOnce(both);
      this.#replace(followed);
      for await (const batch of followed.changes) this.#applyBatch(batch.events, batch.revision);
    } finally {
      ended.abort();
    }
  }

  #applyBatch(events: readonly StoreEvent[], reached: number): void {
    const now = this.#clock.now();
    const applied: CacheEvent[] = [];
    for (const event of events) {
      const made = this.#ifObject(event.key, () => applyEvent(this.#index, event, this.#budget));
      if (!made) {
        this.#index.delete(event.key);
        continue;
      }
      this.#history.add(made, now);
      applied.push(made);
    }
    // Readers that wait for a revision must be able to read it before watchers get its event.
    this.#revision = reached;
    this.#watchers.publish(applied, reached);
    this.#waits.reached(reached);
  }

  /** Lists the store at one revision, and watches it from there. */
  async #listOnce(signal: AbortSignal): Promise<Followed> {
    const store = this.#store;
    const prefix = this.#prefix;
    const listed = new Map<string, CachedObject>();
    let page =
      this.#revision === 0
        ? await firstPage(store, prefix, listPage)
        : await store.list(prefix, { limit: listPage });
    const reached = page.revision;
    for (;;) {
      signal.throwIfAborted();
      this.#addTo(listed, page.items);
      const last = page.items.at(-1);
      if (!page.more || !last) break;
      page = await store.list(prefix, { limit: listPage, revision: reached, startAfter: last.key });
    }
    return { listed, reached, changes: store.watch(prefix, reached, signal) };
  }

  async #listWhileCompacted(signal: AbortSignal): Promise<Followed> {
    const store = this.#store;
    const prefix = this.#prefix;
    const changes = new WatchBuffer(store.watch(prefix, await store.currentRevision(), signal));
    const { items, revision: reached } = await listMoving(store, prefix, changes, {
      clock: this.#clock,
      signal,
    });
    const listed = new Map<string, CachedObject>();
    this.#addTo(listed, items.values());
    return { listed, reached, changes: changes.rest() };
  }

  #addTo(listed: Map<string, CachedObject>, items: Iterable<StoredValue>): void {
    for (const item of items) {
      const object = this.#ifObject(item.key, () => this.#decodeListed(item));
      if (object) listed.set(item.key, object);
    }
  }

  /** Makes the cache equal to the list. */
  #replace({ listed, reached }: Followed): void {
    const changed = replaceAll(this.#index, listed);
    // A store that lost its data starts counting again: no watcher can continue.
    const wentBack = reached < this.#revision;
    this.#history.restart(reached);
    this.#revision = reached;
    this.#watchers.expire((watched) => wentBack || changed.some((key) => key.startsWith(watched)));
    this.#waits.reached(reached);
    this.#log.debug('listed the store', { revision: reached, objects: this.#index.size });
  }

  #decodeListed({ key, value, revision }: StoredValue): CachedObject {
    const known = this.#index.get(key);
    const listed = listedObject(key, value, revision, this.#budget);
    // A store that lost its data may have another object at the same revision.
    return known?.revision === revision && known.bytes.equals(listed.bytes) ? known : listed;
  }

  /** Returns undefined, and logs, if the value of the key is no object. */
  #ifObject<T>(key: string, make: () => T): T | undefined {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.#log.error('the value of a key is not a Kubernetes object and is ignored; delete the key', {
        key,
        error: errorMessage(error),
      });
    }
  }
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
