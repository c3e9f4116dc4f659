/**
 * Long work in short turns. Everything here runs in one thread, so a request that has much to do does a little of it,
 * and then waits for its next turn. There is one turn each time around the event loop, whoever's: between two of them
 * everything else is heard, however many such requests there are.
 */
import type { Clock } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';

/** What a turn may take: about a millisecond or two of parsing or writing JSON. */
const turnBytes = 64 * 1024;
const turnItems = 250;

/** Counts what one turn has done. */
export class Turn {
  #bytes = 0;
  #items = 0;

  /** Adds one item of so many bytes, read or written; true when that was enough for this turn. */
  took(bytes: number): boolean {
    this.#bytes += bytes;
    this.#items++;
    return this.#bytes >= turnBytes || this.#items >= turnItems;
  }
}

/** Work on up to so many items needs no turn of its own. */
export const fewItems = 25;

export class Turns {
  readonly #clock: Pick<Clock, 'soon'>;
  readonly #loopMeter: LoopMeter | undefined;
  readonly #waiting: (() => void)[] = [];

  /** What the meter was told of last before work waits for its turn is what goes on then. */
  constructor(clock: Pick<Clock, 'soon'>, loopMeter?: LoopMeter) {
    this.#clock = clock;
    this.#loopMeter = loopMeter;
  }

  /** Resolves when it is the caller's turn, in the order of asking; rejects when nobody waits for the answer any more. */
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
