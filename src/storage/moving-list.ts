/**
 * Lists a store whose history is compacted during the list. When room is critical, a master compacts every
 * two seconds, so that a list of large objects at one revision would never end. Here each page is read at the
 * newest revision, and a watch from before the first page delivers the changes in between. A compaction does
 * not affect an open watch.
 */
import type { Clock } from '../base/clock.ts';
import { CompactedError, type ListResult, type Store, type StoredValue, type StoreEvent } from './store.ts';
import type { WatchBuffer } from './watch-buffer.ts';

/** Items of the first page. A page within one call of etcd cannot be compacted. */
const firstLimit = 16;
const maxLimit = 2500;
const growth = 4;
/** Target size in bytes of a page: one of this size is read within a compaction interval. */
const pageBytes = 8 << 20;

export interface MovingList {
  /** The store as of `revision`, by key. */
  readonly items: ReadonlyMap<string, StoredValue>;
  readonly revision: number;
}

/**
 * Resolves when `changes`, a watch of the prefix, has delivered everything up to the last page, and takes
 * those batches from it. Rejects with CompactedError if the watch broke and the store has no history for it
 * any more.
 */
export async function listMoving(
  store: Store,
  prefix: string,
  changes: WatchBuffer,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<MovingList> {
  const reach = (revision: number) => changes.reach(revision, clock, () => store.requestProgress());
  // A watch that has reported its progress is open.
  await reach(await store.currentRevision());
  const items = new Map<string, StoredValue>();
  let revision = 0;
  for await (const page of pages(store, prefix, signal)) {
    for (const item of page.items) items.set(item.key, item);
    revision = page.revision;
  }
  await reach(revision);
  for (const { events } of changes.take()) for (const event of events) applyChange(items, event);
  return { items, revision: changes.revision };
}

/** Applies a change to items of different revisions: an item that is newer already contains it. */
export function applyChange(items: Map<string, StoredValue>, event: StoreEvent): void {
  const item = items.get(event.key);
  if (item && item.revision >= event.revision) return;
  if (event.type === 'delete') items.delete(event.key);
  else items.set(event.key, { key: event.key, value: event.value, revision: event.revision });
}

async function* pages(store: Store, prefix: string, signal: AbortSignal): AsyncGenerator<ListResult> {
  let limit = firstLimit;
  let startAfter: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    const page = await readPage(store, prefix, limit, startAfter);
    if (page === 'compacted') {
      limit = Math.ceil(limit / growth);
      continue;
    }
    yield page;
    if (!page.more || page.items.length === 0) return;
    startAfter = page.items.at(-1)?.key;
    limit = nextLimit(page.items);
  }
}

/**
 * Reads one page. Resolves to `compacted` if a compaction came between its calls, and a smaller page may
 * succeed.
 */
async function readPage(
  store: Store,
  prefix: string,
  limit: number,
  startAfter: string | undefined,
): Promise<ListResult | 'compacted'> {
  try {
    return await store.list(prefix, { limit, ...(startAfter !== undefined && { startAfter }) });
  } catch (error) {
    if (error instanceof CompactedError && limit > 1) return 'compacted';
    throw error;
  }
}

function nextLimit(items: readonly StoredValue[]): number {
  const bytes = items.reduce((sum, { value }) => sum + value.length, 0);
  const fitting = bytes > 0 ? Math.ceil((items.length * pageBytes) / bytes) : maxLimit;
  return Math.min(fitting, items.length * growth, maxLimit);
}
