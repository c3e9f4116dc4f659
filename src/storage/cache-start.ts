/**
 * Where a cache that starts begins: not at what the store holds now but a little before, as far back as the store
 * still knows. What happened since then comes as events, so clients that were watching before go on where they were,
 * all from the one list and the one watch of the cache.
 */
import { CompactedError, type ListResult, type Store } from './store.ts';

/**
 * How many revisions before now: more than three minutes of 1,000 nodes, of which a client that was watching is at
 * most a minute behind (its last bookmark) when its server goes down.
 */
const pastRevisions = 20_000;

/** The first page of a list of the store as it was then. Later pages are to be read at the same revision. */
export async function firstPage(store: Store, prefix: string, limit: number): Promise<ListResult> {
  const wanted = Math.max(1, (await store.currentRevision()) - pastRevisions);
  try {
    return await store.list(prefix, { limit, revision: wanted });
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    const oldest = error.compactRevision ?? (await oldestKept(store, prefix, wanted));
    return store.list(prefix, { limit, ...(oldest !== undefined && { revision: oldest }) });
  }
}

/** The oldest revision that can be read; etcd reports it for a watch that fails, and not for a read. */
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
