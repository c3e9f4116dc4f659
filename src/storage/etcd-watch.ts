/**
 * A watch on etcd that neither loses nor repeats events. The revision of the last event (or progress mark)
 * that was delivered marks the position, never a response's header, and a broken stream resumes from there.
 *
 * - The watch starts at the last delivered revision and drops the events that it has, instead of at the next
 *   revision: etcd then also reports `compacted` if exactly the next event was a deletion that compaction
 *   removed.
 * - Events of one revision are delivered together, even if etcd sent them in fragments.
 * - Before 3.4.31 and 3.5.13 etcd answers a progress request ahead of events that it has not sent yet (etcd
 *   issue 15220), so with these versions a write to a marker key inside the watched range replaces it: events
 *   of one range are ordered.
 */
import { Backoff } from '../base/backoff.ts';
import { type Clock, pause } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import {
  type EtcdRpc,
  markerKey,
  nothingElse,
  prefixEnd,
  RpcError,
  type WatchResponse,
  type WatchStream,
} from './etcd-rpc.ts';
import { CompactedError, type StoreEvent, type WatchBatch } from './store.ts';

export interface WatchOptions {
  readonly rpc: EtcdRpc;
  readonly clock: Clock;
  readonly log: Logger;
  readonly prefix: string;
  readonly after: number;
  readonly signal: AbortSignal;
  /** Called with each stream once its watch exists, and with undefined when it is lost. */
  readonly onStream: (stream: WatchStream | undefined) => void;
}

const watchId = 1;
const retry = { initialMs: 20, maxMs: 2_000 };
const checkMs = 5000;

export type WatchStep =
  | { readonly type: 'batch'; readonly batch: WatchBatch }
  | { readonly type: 'created'; readonly revision: number }
  | { readonly type: 'nothing' }
  | { readonly type: 'compacted'; readonly revision: number }
  | { readonly type: 'canceled'; readonly reason: string };

/** Turns the responses of one stream into batches; `delivered` outlives the stream, `held` does not. */
export class WatchAssembler {
  delivered: number;
  readonly #prefix: string;
  #held: StoreEvent[] = [];
  #cluster: number | undefined;

  constructor(prefix: string, delivered: number) {
    this.#prefix = prefix;
    this.delivered = delivered;
  }

  /** Discards what a broken stream left incomplete: the next stream sends it again. */
  restart(): void {
    this.#held = [];
  }

  take(response: WatchResponse): WatchStep {
    this.#cluster ??= response.header.cluster_id;
    if (response.header.cluster_id !== this.#cluster) {
      // Another database answers (wiped, or restored from a snapshot): its revisions are not those delivered
      // so far.
      return { type: 'compacted', revision: response.header.revision };
    }
    const id = response.watch_id;
    if (id !== watchId && id !== -1) return { type: 'nothing' };
    if (response.canceled) {
      const compacted = response.compact_revision;
      if (compacted > 0) return { type: 'compacted', revision: compacted };
      return { type: 'canceled', reason: response.cancel_reason };
    }
    if (response.created) return { type: 'created', revision: response.header.revision };
    if (response.events.length === 0 && !response.fragment) return this.#progress(response);
    return this.#events(response);
  }

  #progress(response: WatchResponse): WatchStep {
    const revision = response.header.revision;
    if (this.#held.length > 0 || revision < this.delivered) return { type: 'nothing' };
    this.delivered = revision;
    return { type: 'batch', batch: { events: [], revision } };
  }

  #events(response: WatchResponse): WatchStep {
    for (const event of response.events) this.#held.push(toStoreEvent(event));
    let complete = this.#held;
    if (response.fragment) {
      // More events of the last revision may follow; earlier revisions are complete.
      const last = this.#held.at(-1)?.revision;
      complete = this.#held.splice(
        0,
        this.#held.findIndex((event) => event.revision === last),
      );
    } else {
      this.#held = [];
    }
    const revision = complete.at(-1)?.revision;
    if (revision === undefined || revision <= this.delivered) return { type: 'nothing' };
    const fresh = complete.filter(
      (event) => event.revision > this.delivered && event.key.startsWith(this.#prefix),
    );
    this.delivered = revision;
    return { type: 'batch', batch: { events: fresh, revision } };
  }
}

function toStoreEvent(event: WatchResponse['events'][number]): StoreEvent {
  const key = event.kv.key.toString();
  const revision = event.kv.mod_revision;
  if (event.type === 'delete') return { type: 'delete', key, revision };
  return { type: 'put', key, value: event.kv.value, revision };
}

/** Watches etcd; see Store.watch. */
export async function* watchEtcd(options: WatchOptions): AsyncGenerator<WatchBatch> {
  const { clock, log, prefix, signal } = options;
  requireFolder(prefix);
  const assembler = new WatchAssembler(prefix, options.after);
  const backoff = new Backoff(retry);
  const outage = new OutageLog(log);
  while (!signal.aborted) {
    let lost: RpcError | undefined;
    try {
      for await (const batch of oneStream(options, assembler)) {
        backoff.reset();
        outage.end();
        yield batch;
      }
    } catch (error) {
      lost = requireRpcError(error);
    } finally {
      options.onStream(undefined);
    }
    if (signal.aborted) return;
    const delayMs = backoff.next();
    if (lost) outage.report(lost, assembler.delivered, delayMs === retry.maxMs);
    await pause(clock, delayMs, signal);
  }
}

function requireFolder(prefix: string): void {
  if (!prefix.endsWith('/')) throw new RangeError(`a watch needs a prefix that ends in "/", not ${prefix}`);
}

function requireRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  throw error;
}

/** Logs lost streams. Only an outage that is long is reported as a warning, and only once. */
class OutageLog {
  readonly #log: Logger;
  #isReported = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  report(error: RpcError, after: number, isLong: boolean): void {
    const fields = { after, error: errorMessage(error) };
    if (!isLong || this.#isReported) {
      this.#log.debug('the watch stream was lost, resuming', fields);
      return;
    }
    this.#isReported = true;
    this.#log.warn('etcd cannot be reached, trying again', fields);
  }

  /** Must be called when a stream delivers again. */
  end(): void {
    this.#isReported = false;
  }
}

async function* oneStream(options: WatchOptions, assembler: WatchAssembler): AsyncGenerator<WatchBatch> {
  const { rpc, prefix, signal } = options;
  assembler.restart();
  const stream = await rpc.openWatch();
  const cancel = () => stream.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    if (signal.aborted) return;
    stream.send({
      create_request: {
        key: markerKey(prefix, 'progress'),
        range_end: prefixEnd(prefix),
        start_revision: Math.max(1, assembler.delivered),
        progress_notify: true,
        fragment: true,
        watch_id: watchId,
      },
    });
    for await (const response of stream.responses) {
      const step = assembler.take(response);
      switch (step.type) {
        case 'nothing':
          break;
        case 'batch':
          yield step.batch;
          break;
        case 'created':
          if (step.revision < assembler.delivered) await checkNotWiped(rpc, assembler.delivered);
          options.onStream(stream);
          break;
        case 'compacted':
          throw new CompactedError(
            `revision ${assembler.delivered + 1} is gone; the oldest kept is ${step.revision}`,
            step.revision,
          );
        case 'canceled':
          throw new RpcError('unanswered', `etcd canceled the watch: ${step.reason}`);
      }
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    stream.cancel();
  }
}

/**
 * Throws CompactedError if etcd has lost data. The member that answers is behind the delivered revision:
 * either it lags, or the database was wiped and counts again, and then the watch would wait in silence for
 * revisions that will mean something else.
 */
async function checkNotWiped(rpc: EtcdRpc, delivered: number): Promise<void> {
  const answer = await rpc.range(nothingElse, checkMs);
  const current = answer.header.revision;
  if (current >= delivered) return;
  throw new CompactedError(
    `the store is at revision ${current}, behind revision ${delivered}, which was already delivered: etcd lost data`,
    undefined,
  );
}

/** Returns whether progress requests are reliable in this version of etcd; see the head of this file. */
export function progressIsOrdered(version: string): boolean {
  const [major = Number.NaN, minor = Number.NaN, patch = Number.NaN] = version
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  const number = major * 1_000_000 + minor * 1000 + patch;
  return number >= 3_005_013 || (number >= 3_004_031 && number < 3_005_000);
}
