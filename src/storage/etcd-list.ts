/**
 * Lists from etcd in pages: however many and large the objects are, no answer exceeds the size limit of one
 * message.
 */
import {
  type KeyValue,
  prefixEnd,
  type RangeRequest,
  type RangeResponse,
  type RpcError,
} from './etcd-rpc.ts';
import { type ListOptions, type ListResult, type StoredValue, StoreRejectedError } from './store.ts';

/** Items fetched in one call: about 8 MB of ordinary objects. */
const pageSize = 2500;
/**
 * Target size in bytes of a page of large objects, estimated from the previous page: a quarter of the size
 * limit.
 */
const pageBytes = 16 << 20;

export function toStoredValue(kv: KeyValue): StoredValue {
  return { key: kv.key.toString(), value: kv.value, revision: kv.mod_revision };
}

/**
 * Returns the keys that start with `prefix`, as selected by `options`. `range` must reject with the RpcError
 * as the cause if etcd rejects a request.
 */
export async function listPages(
  range: (what: string, request: RangeRequest) => Promise<RangeResponse>,
  prefix: string,
  options: ListOptions,
): Promise<ListResult> {
  const rangeEnd = prefixEnd(prefix);
  const wanted = options.limit ?? Number.POSITIVE_INFINITY;
  const items: StoredValue[] = [];
  let startAfter = options.startAfter;
  let revision = options.revision;
  let page = pageSize;
  for (;;) {
    const limit = Math.min(wanted - items.length, page);
    let response: RangeResponse;
    try {
      response = await range(`listing ${prefix}`, {
        key: startAfter === undefined ? Buffer.from(prefix) : Buffer.from(`${startAfter}\0`),
        range_end: rangeEnd,
        limit,
        revision,
      });
    } catch (error) {
      if (limit <= 1 || !isTooLong(error)) throw error;
      page = Math.ceil(limit / 4);
      continue;
    }
    for (const kv of response.kvs) items.push(toStoredValue(kv));
    // The following pages must come from the snapshot of the first.
    revision ??= response.header.revision;
    const remaining = response.count - response.kvs.length;
    if (!response.more || items.length >= wanted) return { items, revision, more: response.more, remaining };
    startAfter = items.at(-1)?.key;
    page = nextPage(response.kvs);
  }
}

/** Returns the number of items to fetch after these. */
function nextPage(kvs: readonly KeyValue[]): number {
  const bytes = kvs.reduce((sum, { value }) => sum + value.length, 0);
  return Math.min(Math.ceil((kvs.length * pageBytes) / bytes), pageSize);
}

const isTooLong = (error: unknown) =>
  error instanceof StoreRejectedError && (error.cause as RpcError).failure === 'too long';
