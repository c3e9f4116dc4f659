/** Determines from etcd's history whether a write with a lost answer was applied (see etcd-write.ts). */
import type { Clock } from '../base/clock.ts';
import { type EtcdRpc, markerKey, RpcError, type WatchResponse } from './etcd-rpc.ts';
import type { Claims } from './store.ts';

export interface Write {
  readonly key: string;
  /** Bytes to put; undefined deletes the key. */
  readonly value: Buffer | undefined;
  /** The mod_revision that the key must have; 0 if it must not exist. */
  readonly expected: number;
  readonly claims: Claims;
}

/** A write, and the mark that identifies its deletion. */
export interface MarkedWrite extends Write {
  readonly mark: Buffer;
}

/**
 * Returns the revision at which `write` was applied in (before, fence], or undefined if it was not. One watch
 * spans the fence and the key, and events of one watch are ordered, so the fence's event ends the history.
 */
export async function findInHistory(
  { rpc, clock }: { readonly rpc: EtcdRpc; readonly clock: Clock },
  write: MarkedWrite,
  before: number,
  fence: number,
  deadline: number,
): Promise<number | undefined> {
  // A fence earlier than a revision seen before: this database is another one, wiped or restored.
  if (fence <= before) throw new RpcError('compacted', 'etcd lost the history to read back');
  const stream = await rpc.openWatch();
  const timer = clock.after(Math.max(deadline - clock.now(), 1), () => stream.cancel());
  try {
    stream.send({
      create_request: {
        key: markerKey(write.key, 'fence'),
        range_end: Buffer.from(`${write.key}\0`),
        start_revision: Math.max(before, write.expected) + 1,
        progress_notify: false,
        fragment: true,
        watch_id: 1,
      },
    });
    return await readHistory(stream.responses, judgeOf(write, fence));
  } finally {
    timer.cancel();
    stream.cancel();
  }
}

async function readHistory(
  responses: AsyncIterable<WatchResponse>,
  judge: (event: HistoryEvent) => Verdict,
): Promise<number | undefined> {
  for await (const response of responses) {
    if (response.canceled) throw historyGone(response);
    for (const event of response.events) {
      const verdict = judge(event);
      if (verdict !== 'unclear') return revisionAfter(verdict, event);
    }
  }
  throw new RpcError('unanswered', 'the connection ended while reading back a write');
}

function historyGone(response: WatchResponse): RpcError {
  if (response.compact_revision > 0)
    return new RpcError('compacted', 'the history to read back was compacted');
  return new RpcError('refused', `etcd canceled the read-back: ${response.cancel_reason}`);
}

const revisionAfter = (verdict: Verdict, { kv }: HistoryEvent) =>
  verdict === 'ours' ? kv.mod_revision : undefined;

type HistoryEvent = WatchResponse['events'][number];

type Verdict = 'ours' | 'never' | 'unclear';

/**
 * Returns a function that judges each event up to the fence, in order: whether it is the write, or shows that
 * the write was never applied.
 */
function judgeOf(write: MarkedWrite, fence: number): (event: HistoryEvent) => Verdict {
  const key = Buffer.from(write.key);
  const goneKey = markerKey(write.key, 'gone');
  /** Revision of the write's own deletion, once its mark was seen. */
  let marked = 0;
  return (event) => {
    const { kv } = event;
    const revision = kv.mod_revision;
    if (revision >= fence) return 'never';
    if (kv.key.equals(goneKey) && kv.value.equals(write.mark)) marked = revision;
    return kv.key.equals(key) ? judgeChange(write, event, marked) : 'unclear';
  };
}

/** Judges a change of the write's key; `marked` is the revision of the write's own deletion. */
function judgeChange(write: MarkedWrite, event: HistoryEvent, marked: number): Verdict {
  const isOwn =
    write.value === undefined ? event.kv.mod_revision === marked : isPut(write.value, write.expected, event);
  if (isOwn) return 'ours';
  // Another writer made the first change after the expected revision, so this write's comparison failed.
  return write.expected === 0 ? 'unclear' : 'never';
}

function isPut(value: Buffer, expected: number, { type, kv }: HistoryEvent): boolean {
  if (type === 'delete' || !kv.value.equals(value)) return false;
  return (kv.version === 1) === (expected === 0);
}
