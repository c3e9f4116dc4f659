/** Batches of a watch that arrive while their reader is busy. */
import { type Clock, pause } from '../base/clock.ts';
import { StoreUnavailableError, type WatchBatch } from './store.ts';

/** Interval in milliseconds at which a watch is asked for its progress. */
const progressMs = 100;

export class WatchBuffer {
  /** Everything up to and including this revision has arrived; 0 before the first batch. */
  revision = 0;
  #batches: WatchBatch[] = [];
  #isEnded = false;
  #error: unknown;
  #wake = Promise.withResolvers<void>();

  /** Reads the watch at once, until it ends. */
  constructor(watch: AsyncIterable<WatchBatch>) {
    void this.#read(watch);
  }

  async #read(watch: AsyncIterable<WatchBatch>): Promise<void> {
    try {
      for await (const batch of watch) {
        this.#batches.push(batch);
        this.revision = batch.revision;
        this.#notify();
      }
    } catch (error) {
      this.#error = error;
    }
    this.#isEnded = true;
    this.#notify();
  }

  #notify(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  /** Throws what the watch threw. */
  #check(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  /**
   * Resolves when the watch has delivered everything up to the revision; rejects if it ends before. Calls
   * `askProgress` again and again until then.
   */
  async reach(revision: number, clock: Clock, askProgress: () => void): Promise<void> {
    while (this.revision < revision) {
      this.#check();
      if (this.#isEnded) throw new StoreUnavailableError('the watch ended before it reached the list');
      const arrived = this.#wake.promise;
      askProgress();
      const timer = new AbortController();
      await Promise.race([arrived, pause(clock, progressMs, timer.signal)]);
      timer.abort();
    }
  }

  /** Returns the batches that have arrived, and removes them. */
  take(): readonly WatchBatch[] {
    return this.#batches.splice(0);
  }

  /** Yields all batches that were not taken; ends or throws as the watch does. */
  async *rest(): AsyncGenerator<WatchBatch> {
    for (;;) {
      const arrived = this.#wake.promise;
      yield* this.take();
      if (this.#batches.length > 0) continue;
      this.#check();
      if (this.#isEnded) return;
      await arrived;
    }
  }
}
