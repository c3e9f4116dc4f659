/** Waiting for the watch cache to be as new as a read demands. */
import { newStatusError } from '../apimachinery/status-error.ts';
import { sleep } from '../base/clock.ts';
import type { Store } from '../storage/store.ts';
import type { RequestScope } from './request-scope.ts';
import type { ServerContext } from './server-context.ts';
import { type StoredObject, storedObject } from './stored-object.ts';

/** Upstream's blockTimeout of the watch cache. */
const patience = 3000;
/** The event is usually here by then, and costs nothing; after it one key is asked for. */
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

/** Who waits: until the signal aborts. It is made when it is read, so nobody reads it who does not wait. */
type Waiting = Pick<RequestScope, 'signal'>;

/** What says how new the cache is. */
type Freshness = Pick<ServerContext, 'cache' | 'clock' | 'latest'>;

/** Resolves when the cache has applied `revision`; 504 after three seconds, at once when the signal aborts. */
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
 * The cache becomes at least as new as the store is now, so that a read from it is linearizable. Throws 504 while it is of
 * data that the store has lost.
 */
export async function waitForNow(server: Freshness, waiting: Waiting): Promise<void> {
  const { cache } = server;
  const before = cache.revision;
  const now = await server.latest.ask(waiting.signal);
  // It lists the store again within seconds, and then counts from there too.
  if (hasLost(now, before) && cache.revision >= before) throw lostData(now, before);
  await waitForRevision(server, now, waiting);
}

/** A store that is behind what it said before has lost its data, of which the cache still knows. */
const hasLost = (now: number, before: number) => now < before;

/**
 * What is under `key` now (linearizable): from the cache when that is as new as the store, else from whichever has it first.
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
    // Of the two reasons the store's says what is wrong.
    return await stored;
  } finally {
    found.abort();
  }
}
