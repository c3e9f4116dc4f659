/** The open watches of an etcd store, each of which may be asked for its progress. */
import type { Clock } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { EtcdCalls } from './etcd-calls.ts';
import { type EtcdRpc, markerKey, type WatchStream } from './etcd-rpc.ts';
import { watchEtcd } from './etcd-watch.ts';
import { StoreUnavailableError, type WatchBatch } from './store.ts';

export interface EtcdWatchesOptions {
  readonly rpc: EtcdRpc;
  readonly clock: Clock;
  readonly log: Logger;
  readonly attemptMs: number;
  readonly calls: EtcdCalls;
  /** True if etcd orders its answers to progress requests after the events before them. */
  readonly isProgressOrdered: boolean;
}

interface OpenWatch {
  readonly prefix: string;
  /** Undefined while the stream is opened again. */
  stream: WatchStream | undefined;
}

/** Watches of one store. */
export class EtcdWatches {
  readonly #options: EtcdWatchesOptions;
  readonly #open = new Set<OpenWatch>();

  constructor(options: EtcdWatchesOptions) {
    this.#options = options;
  }

  /** True if a watch has a stream, which shows that this is still the etcd to which all writes went. */
  get hasStream(): boolean {
    for (const { stream } of this.#open) if (stream !== undefined) return true;
    return false;
  }

  /** Yields as Store.watch does. Throws StoreUnavailableError when the store is closed. */
  async *watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<WatchBatch> {
    const { rpc, clock, log, calls } = this.#options;
    const open: OpenWatch = { prefix, stream: undefined };
    this.#open.add(open);
    const onStream = (stream: WatchStream | undefined) => {
      open.stream = stream;
    };
    const ended = AbortSignal.any([signal, calls.closed]);
    try {
      for await (const batch of watchEtcd({ rpc, clock, log, prefix, after, signal: ended, onStream })) {
        calls.reached(batch.revision);
        yield batch;
      }
    } finally {
      this.#open.delete(open);
    }
    if (!signal.aborted) throw new StoreUnavailableError('the store is closed');
  }

  /** Asks every open watch for a batch that reports its progress. */
  requestProgress(): void {
    for (const { prefix, stream } of this.#open) if (stream) this.#askProgress(prefix, stream);
  }

  #askProgress(prefix: string, stream: WatchStream): void {
    const { rpc, log, attemptMs, calls, isProgressOrdered } = this.#options;
    if (isProgressOrdered) {
      stream.send({ progress_request: {} });
      return;
    }
    const put = { request_put: { key: markerKey(prefix, 'progress'), value: Buffer.alloc(0) } };
    rpc.txn({ compare: [], success: [put], failure: [] }, attemptMs).then(
      (response) => calls.onAnswer(response.header),
      (error) => log.debug('the progress marker key was not written', { error: errorMessage(error) }),
    );
  }
}
