/**
 * Runs steps strictly one after the other until none is due. Any part that notices a possible change calls
 * `wake`; the change itself is not passed on, so nothing is lost when wakes come faster than steps.
 */

import { Backoff } from '../../base/backoff.ts';
import type { Clock, Timer } from '../../base/clock.ts';

/** When the next step is due. */
export interface NextStep {
  /** True if the next step follows at once. */
  readonly isDue: boolean;
  /** Milliseconds until the next step, unless a wake comes earlier; undefined if only a wake starts one. */
  readonly after: number | undefined;
}

export interface Steps {
  readonly clock: Clock;
  step(): Promise<NextStep>;
  /** Called with the error of a failed step, and with the milliseconds until it is tried again. */
  failed(error: unknown, afterMs: number): void;
}

const retry = { initialMs: 500, maxMs: 30_000 };

export class StepLoop {
  readonly #steps: Steps;
  readonly #backoff = new Backoff(retry);
  #dirty = false;
  #isRunning = false;
  #running: Promise<void> | undefined;
  #timer: Timer | undefined;
  #stopped = false;
  #paused: boolean;

  constructor(steps: Steps, paused: boolean) {
    this.#steps = steps;
    this.#paused = paused;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  wake(): void {
    this.#dirty = true;
    if (this.#stopped || this.#paused || this.#isRunning) return;
    // Set before the first step begins, which may call `wake` itself.
    this.#isRunning = true;
    this.#running = this.#run().finally(() => {
      this.#isRunning = false;
      // `wake` may have been called after the last inspection and before this line.
      if (this.#dirty) this.wake();
    });
  }

  /** Starts no further step until `resume`. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.wake();
  }

  /** Starts no further step, for good. The step that runs is not interrupted: `idle` waits for it. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Resolves when no step runs; after `stop` none begins any more. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#dirty && !this.#stopped && !this.#paused) {
      this.#dirty = false;
      this.#timer?.cancel();
      try {
        await this.#next();
      } catch (error) {
        if (this.#stopped) return;
        const wait = this.#backoff.next();
        this.#steps.failed(error, wait);
        this.#wakeAfter(wait);
      }
    }
  }

  async #next(): Promise<void> {
    const { isDue, after } = await this.#steps.step();
    this.#backoff.reset();
    if (isDue) this.#dirty = true;
    else if (after !== undefined) this.#wakeAfter(after);
  }

  #wakeAfter(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#steps.clock.after(ms, () => this.wake());
  }
}
