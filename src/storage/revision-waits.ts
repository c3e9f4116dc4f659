/**
 * Readers that wait until the watch cache has applied a revision. They resume in pieces: thousands of reads
 * that wait for one event must not be one turn of the event loop.
 */
import { Backoff } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import { inTurns, type NextPiece } from '../base/event-loop/pieces.ts';
import { type Store, StoreUnavailableError } from './store.ts';

/**
 * Intervals between progress requests while the store has not reached the revision. An event usually arrives
 * within a millisecond; only after the first interval is the store asked.
 */
const progress = { initialMs: 2, maxMs: 100, factor: 4 };

interface Waiter {
  readonly revision: number;
  resolve(): void;
  reject(reason: unknown): void;
}

/** The store is asked for its progress while a reader waits. */
export class RevisionWaits {
  readonly #clock: Clock;
  readonly #store: Pick<Store, 'requestProgress'>;
  readonly #nextPiece: NextPiece;
  readonly #waiters = new Set<Waiter>();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(clock: Clock, store: Pick<Store, 'requestProgress'>, loopMeter?: LoopMeter) {
    this.#clock = clock;
    this.#store = store;
    this.#nextPiece = inTurns(clock, loopMeter);
  }

  /**
   * Resolves when the cache has reached the revision and it is the reader's turn. Rejects with the signal's
   * reason, and with StoreUnavailableError after `stop`.
   */
  async wait(revision: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#isStopped) throw newStopped();
    if (!this.#timer) this.#awaitProgress();
    await addWaiter(this.#waiters, revision, signal);
    await this.#nextPiece();
    signal?.throwIfAborted();
  }

  /** Must be called whenever the cache's revision has changed. */
  reached(revision: number): void {
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.resolve();
    this.#timer?.cancel();
    this.#timer = undefined;
    // A waiter that arrived after a progress request gets one of its own, without the longer interval of
    // earlier waiters.
    if (this.#waiters.size > 0) this.#awaitProgress();
  }

  /** Rejects all waiting readers and returns the reason. */
  stop(): StoreUnavailableError {
    this.#isStopped = true;
    this.#timer?.cancel();
    const reason = newStopped();
    for (const waiter of this.#waiters) waiter.reject(reason);
    return reason;
  }

  #awaitProgress(intervals = new Backoff(progress)): void {
    this.#timer = this.#clock.after(intervals.next(), () => {
      this.#store.requestProgress();
      this.#awaitProgress(intervals);
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
