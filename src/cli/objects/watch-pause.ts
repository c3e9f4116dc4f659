/** Pauses between watches that end at once. */
import { Backoff } from '../../base/backoff.ts';
import { type Clock, sleep } from '../../base/clock.ts';

/** Time in milliseconds: a watch that ends earlier without an event counts as failed, as in client-go. */
const shortWatchMs = 1_000;

/**
 * Delays the next watch after one that ended at once without an event, as behind a proxy that ends each
 * answer. Otherwise the client would send one request after the other without a pause. The delays grow up to
 * 30 s.
 */
export class WatchPause {
  readonly #clock: Clock;
  readonly #backoff = new Backoff({ initialMs: 800, maxMs: 30_000 });
  #begunMs = 0;
  #hasEvents = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes the start of a watch. */
  begin(): void {
    this.#begunMs = this.#clock.monotonic();
    this.#hasEvents = false;
  }

  /** Notes an event of the watch. */
  event(): void {
    this.#hasEvents = true;
  }

  /** Resolves when the next watch may start; rejects with the reason of the signal when it aborts. */
  async end(signal: AbortSignal): Promise<void> {
    const isShort = this.#clock.monotonic() - this.#begunMs < shortWatchMs;
    if (isShort && !this.#hasEvents) await sleep(this.#clock, this.#backoff.next(), signal);
    else this.#backoff.reset();
  }
}
