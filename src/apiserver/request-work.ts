/**
 * Work on one request is done in steps, and after a long one the others get their turn: health, leases and everybody's
 * watches wait on the same thread.
 */
import type { Steps } from '../apimachinery/steps.ts';
import type { Clock } from '../base/clock.ts';
import type { Turns } from './turns.ts';

/** Milliseconds of work before other requests get a turn; most requests take less in all. */
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

  /** To be awaited between two steps; the state that the request read may have changed meanwhile. */
  async pause(): Promise<void> {
    if (this.#clock.monotonic() - this.#since < longMs) return;
    await this.#turns.next();
    this.#since = this.#clock.monotonic();
  }

  async through<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      await this.pause();
    }
  }
}
