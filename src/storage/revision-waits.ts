/** Readers that wait until the watch cache has applied a revision. */
import { type Clock, nextTurn, type Timer } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import { type Store, StoreUnavailableError } from './store.ts';

/**
 * An event usually arrives within a millisecond; only after this time is the store asked for its progress.
 */
const firstProgressMs = 2;
/** Factor by which the interval grows, up to the maximum, while the store has not reached the revision. */
const progressGrowth = 4;
const maxProgressMs = 100;
/**
 * Number of waiting readers that resume in one turn of the event loop: thousands of reads that wait for one
 * event would hold the loop until all are answered.
 */
const readersOfOneTurn = 16;

interface Waiter {
  readonly revision: number;
  resolve(): void;
  reject(reason: unknown): void;
}

/** The store is asked for its progress while a reader waits. */
export class RevisionWaits {
  readonly #clock: Clock;
  readonly #store: Pick<Store, 'requestProgress'>;
  readonly #loopMeter: LoopMeter | undefined;
  readonly #waiters = new Set<Waiter>();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(clock: Clock, store: Pick<Store, 'requestProgress'>, loopMeter?: LoopMeter) {
    this.#clock = clock;
    this.#store = store;
    this.#loopMeter = loopMeter;
  }

  /**
   * Resolves when a revision that was not reached yet is reached. Rejects with the signal's reason, and with
   * StoreUnavailableError after `stop`.
   */
  wait(revision: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#isStopped) return Promise.reject(newStopped());
    if (!this.#timer) this.#awaitProgress(firstProgressMs);
    return addWaiter(this.#waiters, revision, signal);
  }

  /** Must be called whenever the cache's revision has changed. */
  reached(revision: number): void {
    void this.#resume([...this.#waiters].filter((waiter) => waiter.revision <= revision));
    this.#timer?.cancel();
    this.#timer = undefined;
    // A waiter that arrived after a progress request gets one of its own, without the longer interval of
    // earlier waiters.
    if (this.#waiters.size > 0) this.#awaitProgress(firstProgressMs);
  }

  /** Rejects everyone that waits and returns the reason. */
  stop(): StoreUnavailableError {
    this.#isStopped = true;
    this.#timer?.cancel();
    const reason = newStopped();
    for (const waiter of [...this.#waiters]) waiter.reject(reason);
    return reason;
  }

  async #resume(reached: readonly Waiter[]): Promise<void> {
    for (const waiter of reached) this.#waiters.delete(waiter);
    for (const [at, waiter] of reached.entries()) {
      if (at > 0 && at % readersOfOneTurn === 0) {
        await nextTurn(this.#clock);
        this.#loopMeter?.turned();
      }
      waiter.resolve();
    }
  }

  #awaitProgress(ms: number): void {
    this.#timer = this.#clock.after(ms, () => {
      this.#store.requestProgress();
      this.#awaitProgress(Math.min(ms * progressGrowth, maxProgressMs));
    });
  }
}

const newStopped = () => new StoreUnavailableError('the watch cache has stopped');

function addWaiter(waiters: Set<Waiter>, revision: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const end = () => {
    waiters.delete(waiter);
    signal?.removeEventListener('abort', onAbort);
  };
  const onAbort = () => waiter.reject(signal?.reason);
  const waiter: Waiter = {
    revision,
    resolve() {
      end();
      resolve();
    },
    reject(reason) {
      end();
      reject(reason);
    },
  };
  waiters.add(waiter);
  signal?.addEventListener('abort', onAbort);
  return promise;
}
