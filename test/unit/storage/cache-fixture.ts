/**
 * A cache over the memory store whose watch a test can hold back and break, on a clock that only the test
 * moves.
 */
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { CacheEvent } from '../../../src/storage/cache.ts';
import { encodeObject } from '../../../src/storage/codec.ts';
import { CompactedError, type Store } from '../../../src/storage/store.ts';
import { createWatchCache, type WatchCacheOptions } from '../../../src/storage/watch-cache.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';

export function pod(name: string, note = ''): KubeObject {
  const metadata = {
    name,
    uid: `uid-${name}`,
    resourceVersion: '',
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { note } } as KubeObject;
}

export const key = (name: string, namespace = 'default') => `/registry/pods/${namespace}/${name}`;
export const body = (name: string, note?: string) => encodeObject(pod(name, note));

/** Returns the store with a watch that the test can break, and with a counter of progress requests. */
function breakable(store: Store) {
  let broken = new AbortController();
  const state = { progress: 0, deaf: false, held: undefined as Promise<void> | undefined };
  const wrapped: Store = {
    ...store,
    requestProgress() {
      state.progress++;
      if (!state.deaf) store.requestProgress();
    },
    async *watch(prefix, after, signal) {
      const cut = broken.signal;
      for await (const batch of store.watch(prefix, after, AbortSignal.any([signal, cut]))) {
        await state.held;
        if (cut.aborted) break;
        yield batch;
      }
      if (!signal.aborted) throw new CompactedError('history is gone', undefined);
    },
  };
  /** Makes the cache list again; it misses all changes until the clock is advanced. */
  const loseHistory = () => {
    broken.abort();
    broken = new AbortController();
  };
  return { store: wrapped, state, loseHistory };
}

export interface Fixture {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly cache: ReturnType<typeof createWatchCache>['cache'];
  readonly state: { progress: number; deaf: boolean; held: Promise<void> | undefined };
  loseHistory(): void;
  /** Watches and records the delivered events. */
  watch(prefix: string, after?: number): Seen;
}

export interface Seen {
  readonly events: CacheEvent[];
  /** Number of events in each call. */
  readonly calls: number[];
  readonly revisions: number[];
  expired: number;
  stop(): void;
}

export async function withCache(
  body: (fixture: Fixture) => Promise<void>,
  options: Partial<WatchCacheOptions> & { readonly seed?: (store: Store) => Promise<void> } = {},
): Promise<void> {
  const memory = createMemoryStore();
  await options.seed?.(memory);
  const clock = new FakeClock();
  const { store, state, loseHistory } = breakable(memory);
  const { cache, run, synced } = createWatchCache({
    store,
    prefix: '/registry/',
    clock,
    log: silentLogger,
    ...options,
  });
  const abort = new AbortController();
  const running = run(abort.signal);
  await synced;
  await clock.settle();
  const watch = (prefix: string, after = cache.revision): Seen => {
    const seen: Seen = { events: [], calls: [], revisions: [], expired: 0, stop: () => undefined };
    seen.stop = cache.watch(prefix, after, {
      onEvents(events, revision) {
        seen.events.push(...events);
        seen.calls.push(events.length);
        seen.revisions.push(revision);
      },
      onExpired: () => void seen.expired++,
    });
    return seen;
  };
  try {
    await body({ store: memory, clock, cache, state, loseHistory, watch });
  } finally {
    abort.abort();
    await clock.settle();
    await running;
  }
}

export const shape = (events: readonly CacheEvent[]) =>
  events.map((event) => `${event.type} ${event.key.split('/').at(-1)}@${event.revision}`);
