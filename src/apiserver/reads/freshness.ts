/** Waits until the watch cache is as new as a read requires. */
import { newStatusError } from '../../apimachinery/status-error.ts';
import { sleep } from '../../base/clock.ts';
import type { Store } from '../../storage/store.ts';
import type { RequestScope } from '../request/request-scope.ts';
import type { ServerContext } from '../server-context.ts';
import { type StoredObject, storedObject } from '../stored-object.ts';

/** Timeout in milliseconds; upstream's blockTimeout of the watch cache. */
const patience = 3000;
/** Time in which the event usually arrives at no cost; after it, the key is read from the store. */
const eventMs = 2;

const tooLarge = (wanted: number, current: number) =>
  newStatusError('Timeout', `Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

const lostData = (now: number, before: number) =>
  newStatusError('Timeout', `etcd lost data: it is at revision ${now}, and was at ${before}; try again`, {
    retryAfterSeconds: 1,
  });

/**
 * The caller that waits; it stops waiting when the signal aborts. `signal` is created on first access, so it
 * must only be read by code that waits.
 */
type Waiting = Pick<RequestScope, 'signal'>;

/** The parts of the server that report how new the cache is. */
type Freshness = Pick<ServerContext, 'cache' | 'clock' | 'latest'>;

/**
 * Resolves when the cache has applied `revision`. Rejects with 504 after three seconds, and at once when the
 * signal aborts.
 */
export async function waitForRevision(server: Freshness, revision: number, waiting: Waiting): Promise<void> {
  if (server.cache.revision >= revision) return;
  const timeout = new AbortController();
  const timer = server.clock.after(patience, () => timeout.abort(tooLarge(revision, server.cache.revision)));
  try {
    await server.cache.waitUntil(revision, AbortSignal.any([timeout.signal, waiting.signal]));
  } finally {
    timer.cancel();
  }
}

/**
 * Waits until the cache is at least as new as the store is now, so that a read from the cache is
 * linearizable. Throws 504 while the cache holds data that the store has lost.
 */
export async function waitForNow(server: Freshness, waiting: Waiting): Promise<void> {
  const { cache } = server;
  const before = cache.revision;
  const now = await server.latest.ask(waiting.signal);
  // The cache lists the store again within seconds and then counts from the store's revision.
  if (hasLost(now, before) && cache.revision >= before) throw lostData(now, before);
  await waitForRevision(server, now, waiting);
}

/**
 * Returns whether the store has lost data: its revision is lower than a revision that the cache has already
 * seen.
 */
const hasLost = (now: number, before: number) => now < before;

/**
 * Returns the object that is stored under `key` now (linearizable): from the cache if it is as new as the
 * store, otherwise from the cache or the store, whichever has the revision first.
 */
export async function readNow(
  server: ServerContext,
  key: string,
  { signal }: Waiting,
): Promise<StoredObject | undefined> {
  const { cache, store } = server;
  const before = cache.revision;
  const now = await server.latest.ask(signal);
  if (hasLost(now, before)) return readStored(store, key);
  return cache.revision >= now ? cache.get(key) : soonest(server, key, now, signal);
}

async function readStored(store: Store, key: string): Promise<StoredObject | undefined> {
  const stored = await store.get(key);
  return stored && storedObject(stored);
}

async function soonest(
  { cache, store, clock }: ServerContext,
  key: string,
  revision: number,
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  const found = new AbortController();
  const over = AbortSignal.any([found.signal, signal]);
  const cached = cache.waitUntil(revision, over).then(() => cache.get(key));
  const stored = sleep(clock, eventMs, over).then(() => readStored(store, key));
  try {
    return await Promise.any([cached, stored]);
  } catch {
    signal.throwIfAborted();
    // The store's error explains the failure better than the cache's.
    return await stored;
  } finally {
    found.abort();
  }
}
