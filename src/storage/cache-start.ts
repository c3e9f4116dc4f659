/**
 * Start of a cache: it does not begin at the store's current revision but a little before, as far back as the
 * store has history. Later changes arrive as events, so clients that were watching before continue where they
 * were, all from the one list and the one watch of the cache.
 */
import { CompactedError, type ListResult, type Store } from './store.ts';

/**
 * Number of revisions before the current one: more than three minutes of 1,000 nodes. A watching client is at
 * most a minute behind (its last bookmark) when its server stops.
 */
const pastRevisions = 20_000;

/** Maximum revision of a new store, which has been written to a few times before the cache starts. */
const maxNewRevision = 32;

/**
 * Returns the first page of a list of the store at the past revision, or at the current one if the store is
 * new and has no objects: etcd takes up to 100 ms for a watch that begins in the past. Later pages must be
 * read at the same revision.
 */
export async function firstPage(store: Store, prefix: string, limit: number): Promise<ListResult> {
  const current = await store.currentRevision();
  const wanted = Math.max(1, current - pastRevisions);
  if (current <= maxNewRevision) {
    const now = await store.list(prefix, { limit: 1 });
    if (now.items.length === 0) return now;
  }
  try {
    return await store.list(prefix, { limit, revision: wanted });
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    const oldest = error.compactRevision ?? (await oldestKept(store, prefix, wanted));
    return store.list(prefix, { limit, ...(oldest !== undefined && { revision: oldest }) });
  }
}

/** Returns the oldest readable revision; etcd reports it for a watch that fails, but not for a read. */
async function oldestKept(store: Store, prefix: string, gone: number): Promise<number | undefined> {
  const enough = new AbortController();
  try {
    for await (const _ of store.watch(prefix, gone, enough.signal)) break;
  } catch (error) {
    if (error instanceof CompactedError) return error.compactRevision;
    throw error;
  } finally {
    enough.abort();
  }
  return undefined;
}
