/**
 * Calls of etcd for the store. Those without side effects are retried; errors are those of the Store
 * contract.
 */
import { type Clock, sleep } from '../base/clock.ts';
import {
  type EtcdRpc,
  isUnanswered,
  type RangeRequest,
  type RangeResponse,
  type ResponseHeader,
  RpcError,
} from './etcd-rpc.ts';
import { CompactedError, StoreRejectedError, StoreUnavailableError } from './store.ts';

export interface EtcdCallsOptions {
  readonly rpc: EtcdRpc;
  readonly clock: Clock;
  /** Timeout of one call in milliseconds. */
  readonly attemptMs: number;
  /** Time in milliseconds for which a call is retried. */
  readonly settleMs: number;
  /** See EtcdStoreOptions.trouble. */
  readonly trouble?: (() => string | undefined) | undefined;
}

const retryMs = 50;

/** Calls of one etcd, and the highest revision in their answers. */
export class EtcdCalls {
  readonly #options: EtcdCallsOptions;
  readonly #closed = new AbortController();
  #lastRevision = 0;
  #cluster: number | undefined;

  constructor(options: EtcdCallsOptions) {
    this.#options = options;
  }

  /** Highest revision in any answer; 0 before the first. */
  get lastRevision(): number {
    return this.#lastRevision;
  }

  /** Aborts when the store is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Records the revision of an answer. */
  readonly onAnswer = (header: ResponseHeader): void => {
    const revision = header.revision;
    // A database that was wiped or restored starts counting again.
    if (header.cluster_id !== this.#cluster || revision > this.#lastRevision) this.#lastRevision = revision;
    this.#cluster = header.cluster_id;
  };

  /** Records a revision that a watch has reached. */
  reached(revision: number): void {
    if (revision > this.#lastRevision) this.#lastRevision = revision;
  }

  /**
   * Retries a call without side effects until it is answered. Rejects with an error of the Store contract,
   * StoreUnavailableError after `withinMs`.
   */
  async ask<T>(
    what: string,
    call: (timeoutMs: number) => Promise<T>,
    withinMs = this.#options.settleMs,
  ): Promise<T> {
    const { clock, attemptMs, trouble } = this.#options;
    const deadline = clock.now() + withinMs;
    for (;;) {
      try {
        return await call(Math.min(attemptMs, Math.max(deadline - clock.now(), 1)));
      } catch (error) {
        // A retry with little time left would only replace the reason by a missed deadline.
        const reason = trouble?.();
        const last = this.closed.aborted || reason || clock.now() + 2 * retryMs >= deadline;
        if (last || !isUnanswered(error)) throw toStoreError(what, error, reason);
        await sleep(clock, retryMs);
      }
    }
  }

  /** Retries as `ask` does. */
  readonly range = async (what: string, request: RangeRequest, withinMs?: number): Promise<RangeResponse> => {
    const response = await this.ask(
      what,
      (timeoutMs) => this.#options.rpc.range(request, timeoutMs),
      withinMs,
    );
    this.onAnswer(response.header);
    return response;
  };

  readonly rangeOnce = async (what: string, request: RangeRequest): Promise<RangeResponse> => {
    const { rpc, attemptMs, trouble } = this.#options;
    const response = await rpc.range(request, attemptMs).catch((error: unknown) => {
      throw toStoreError(what, error, trouble?.());
    });
    this.onAnswer(response.header);
    return response;
  };

  /** Ends the retries and the watches. */
  close(): void {
    this.#closed.abort();
    this.#options.rpc.close();
  }
}

function toStoreError(what: string, error: unknown, trouble?: string): unknown {
  if (!(error instanceof RpcError)) return error;
  switch (error.failure) {
    case 'compacted':
      return new CompactedError(`${what}: ${error.message}`, undefined);
    case 'refused':
    case 'too long':
      return new StoreRejectedError(`${what}: ${error.message}`, { cause: error });
    case 'unanswered':
      return new StoreUnavailableError(`${what}: etcd did not answer: ${trouble ?? error.message}`, {
        cause: error,
        trouble,
      });
  }
}
