/**
 * Divides the work on one request into steps. After a long step other requests get a turn, because health
 * checks, Leases and all watches wait on the same thread.
 */
import type { Steps } from '../../apimachinery/steps.ts';
import type { Clock } from '../../base/clock.ts';
import type { Turns } from '../turns.ts';

/** Milliseconds of work before other requests get a turn; most requests take less in total. */
const longMs = 10;

export class RequestWork {
  readonly #turns: Turns;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #since: number;

  constructor({ turns, clock }: { readonly turns: Turns; readonly clock: Pick<Clock, 'monotonic'> }) {
    this.#turns = turns;
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** Must be awaited between two steps; state that the request has read may change meanwhile. */
  async pause(): Promise<void> {
    if (!this.#isLong()) return;
    await this.#turns.next();
    this.#since = this.#clock.monotonic();
  }

  async through<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      if (this.#isLong()) await this.pause();
    }
  }

  #isLong(): boolean {
    return this.#clock.monotonic() - this.#since >= longMs;
  }
}
