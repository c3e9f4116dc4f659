/**
 * Lists from etcd in pages: however many and large the objects are, no answer exceeds the size limit of one
 * message, and etcd never has to prepare one that takes longer than a call may. A store of large objects
 * would otherwise never be listed, so that no master could start on it.
 */
import {
  type KeyValue,
  prefixEnd,
  type RangeRequest,
  type RangeResponse,
  type RpcError,
} from './etcd-rpc.ts';
import {
  type ListOptions,
  type ListResult,
  type StoredValue,
  StoreRejectedError,
  StoreUnavailableError,
} from './store.ts';

/** Items fetched by the first call: 150 MB at most. */
const firstPageSize = 100;
/** Maximum number of items fetched in one call: about 8 MB of ordinary objects. */
const maxPageSize = 2500;
/** Maximum factor by which a page is larger than the page before: objects of the next kind may be large. */
const pageGrowth = 4;
/** Factor by which a page is made smaller. */
const pageShrinkage = 4;
/**
 * Number of items from which a page without an answer is made smaller instead of being requested again: the
 * reason may be its size.
 */
const largePageSize = 10;
/**
 * Target size in bytes of a page of large objects, estimated from the previous page: a quarter of the size
 * limit. It is reduced to the minimum while etcd does not answer.
 */
const pageBytes = 16 << 20;
const minPageBytes = 1 << 20;

export function toStoredValue(kv: KeyValue): StoredValue {
  return { key: kv.key.toString(), value: kv.value, revision: kv.mod_revision };
}

/** Sends a request; rejects with the RpcError as the cause if etcd rejects it. */
type Range = (what: string, request: RangeRequest) => Promise<RangeResponse>;

export interface Ranges {
  /** Retries until etcd answers. */
  readonly range: Range;
  readonly rangeOnce: Range;
}

/** Returns the keys that start with `prefix`, as selected by `options`. */
export async function listPages(ranges: Ranges, prefix: string, options: ListOptions): Promise<ListResult> {
  const wanted = options.limit ?? Number.POSITIVE_INFINITY;
  const items: StoredValue[] = [];
  let startAfter = options.startAfter;
  let revision = options.revision;
  let page = firstPageSize;
  let targetBytes = pageBytes;
  for (;;) {
    const limit = Math.min(wanted - items.length, page);
    const response = await orFailure(
      rangeFor(ranges, limit)(`listing ${prefix}`, {
        key: firstKey(prefix, startAfter),
        range_end: prefixEnd(prefix),
        limit,
        revision,
      }),
      limit,
    );
    if (typeof response === 'string') {
      targetBytes = targetAfter(response, targetBytes);
      page = Math.ceil(limit / pageShrinkage);
      continue;
    }
    for (const kv of response.kvs) items.push(toStoredValue(kv));
    // The following pages must come from the snapshot of the first.
    revision ??= response.header.revision;
    const remaining = response.count - response.kvs.length;
    if (!response.more || items.length >= wanted) return { items, revision, more: response.more, remaining };
    startAfter = items.at(-1)?.key;
    page = nextPage(response.kvs, targetBytes);
  }
}

const firstKey = (prefix: string, startAfter: string | undefined) =>
  Buffer.from(startAfter === undefined ? prefix : `${startAfter}\0`);

/** Returns the target size of the next page after one that failed. */
const targetAfter = (failure: 'too slow' | 'too long', targetBytes: number) =>
  failure === 'too slow' ? Math.max(targetBytes / pageShrinkage, minPageBytes) : targetBytes;

/** Resolves to the reason if a smaller page may succeed; rejects if not. */
async function orFailure(
  pending: Promise<RangeResponse>,
  limit: number,
): Promise<RangeResponse | 'too slow' | 'too long'> {
  try {
    return await pending;
  } catch (error) {
    if (isTooSlow(error, limit)) return 'too slow';
    if (isTooLong(error, limit)) return 'too long';
    throw error;
  }
}

/** Returns the number of items to fetch after these. */
function nextPage(kvs: readonly KeyValue[], targetBytes: number): number {
  const bytes = kvs.reduce((sum, { value }) => sum + value.length, 0);
  const fitting = bytes > 0 ? Math.ceil((kvs.length * targetBytes) / bytes) : maxPageSize;
  return Math.min(fitting, kvs.length * pageGrowth, maxPageSize);
}

const rangeFor = ({ range, rangeOnce }: Ranges, limit: number) =>
  limit >= largePageSize ? rangeOnce : range;

const isTooLong = (error: unknown, limit: number) =>
  limit > 1 && error instanceof StoreRejectedError && (error.cause as RpcError).failure === 'too long';

const isTooSlow = (error: unknown, limit: number) =>
  limit >= largePageSize && error instanceof StoreUnavailableError;
