/**
 * Work on one request is done in steps, and after a long one the others get their turn: health, leases and everybody's
 * watches wait on the same thread.
 */
import type { Steps } from '../apimachinery/decode.ts';
import type { Turns } from './turns.ts';

/** Milliseconds of work before other requests get a turn; most requests take less in all. */
const longMs = 10;

export class RequestWork {
  readonly #turns: Turns;
  #since = performance.now();

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** To be awaited between two steps; the state that the request read may have changed meanwhile. */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < longMs) return;
    await this.#turns.next();
    this.#since = performance.now();
  }

  async through<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      await this.pause();
    }
  }
}
