/**
 * Divides long work into short turns. The server runs in one thread, so a long request does a part of its
 * work and then waits for its next turn. Each iteration of the event loop has one turn, for any request:
 * between two turns all other events are handled, however many long requests there are.
 */
import type { Clock } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';

/** Bytes of a turn: about one or two milliseconds of parsing or writing JSON. */
const turnBytes = 64 * 1024;
const turnItems = 250;

/** Counts the work of one turn. */
export class Turn {
  #bytes = 0;
  #items = 0;

  /** Adds one item of this size in bytes, read or written. Returns true if the turn is used up. */
  took(bytes: number): boolean {
    this.#bytes += bytes;
    this.#items++;
    return this.#bytes >= turnBytes || this.#items >= turnItems;
  }
}

/** Number of items up to which work needs no turn of its own. */
export const fewItems = 25;

export class Turns {
  readonly #clock: Pick<Clock, 'soon'>;
  readonly #loopMeter: LoopMeter | undefined;
  readonly #waiting: (() => void)[] = [];

  /** `loopMeter` attributes a turn to the work that it measured before the wait. */
  constructor(clock: Pick<Clock, 'soon'>, loopMeter?: LoopMeter) {
    this.#clock = clock;
    this.#loopMeter = loopMeter;
  }

  /** Resolves at the caller's turn, in the order of the calls. Rejects if the signal has aborted. */
  async next(signal?: AbortSignal): Promise<void> {
    const work = this.#loopMeter?.current;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#clock.soon(() => this.#give());
    });
    if (work) this.#loopMeter?.mark(work);
    signal?.throwIfAborted();
  }

  #give(): void {
    this.#loopMeter?.turned();
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#clock.soon(() => this.#give());
  }
}
