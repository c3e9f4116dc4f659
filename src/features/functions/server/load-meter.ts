/** Measures the recent calls of one function. All times are monotonic milliseconds, passed by the caller. */

/** Number of steps in a window. A window that begins within a step overlaps 61 steps. */
const steps = 60;

interface Step {
  /** Number of the step, counted from time 0. */
  readonly number: number;
  /** Calls in progress × milliseconds. */
  work: number;
  began: number;
  /** Maximum number of instances that were wanted in this step. */
  wanted: number;
}

export class LoadMeter {
  readonly #windowMs: number;
  readonly #stepMs: number;
  /** Steps that overlap the window, oldest first. */
  #steps: Step[] = [];
  #underWay = 0;
  #upTo: number;
  #lastCall: number;

  constructor(windowMs: number, now: number) {
    this.#windowMs = windowMs;
    this.#stepMs = windowMs / steps;
    this.#upTo = now;
    this.#lastCall = now;
  }

  /** Number of calls that have begun and not ended, including those that wait. */
  get underWay(): number {
    return this.#underWay;
  }

  begin(now: number): void {
    this.#advance(now);
    this.#step(now).began += 1;
    this.#underWay += 1;
    this.#lastCall = now;
  }

  end(now: number): void {
    this.#advance(now);
    this.#underWay -= 1;
    this.#lastCall = now;
  }

  /**
   * Records how many instances are wanted now, and returns the maximum in the window; a maximum is kept for
   * the window and up to one step more.
   */
  most(wanted: number, now: number): number {
    this.#advance(now);
    const step = this.#step(now);
    step.wanted = Math.max(step.wanted, wanted);
    let most = 0;
    for (const one of this.#steps) if (one.wanted > most) most = one.wanted;
    return most;
  }

  /** Returns the average number of calls in progress over the last `ms`, which must not exceed the window. */
  average(ms: number, now: number): number {
    this.#advance(now);
    const from = now - ms;
    let sum = 0;
    for (let i = this.#steps.length - 1; i >= 0; i--) {
      const step = this.#steps[i] as Step;
      if ((step.number + 1) * this.#stepMs <= from) break;
      sum += step.work * this.#share(step, from, now);
    }
    return sum / ms;
  }

  /**
   * Returns the number of calls that began in the window. Calls of the oldest step count by the part of the
   * step that is in the window, so the number may be a fraction.
   */
  begun(now: number): number {
    this.#advance(now);
    const from = now - this.#windowMs;
    return this.#steps.reduce((sum, { number, began }) => {
      const inWindow = ((number + 1) * this.#stepMs - from) / this.#stepMs;
      return sum + began * Math.min(1, Math.max(0, inWindow));
    }, 0);
  }

  /** Returns the milliseconds since the last call; 0 while a call is in progress. */
  idleFor(now: number): number {
    return this.#underWay > 0 ? 0 : now - this.#lastCall;
  }

  /** Returns the part of the elapsed step that is after `from`. */
  #share({ number }: Step, from: number, now: number): number {
    const began = number * this.#stepMs;
    const passed = Math.min(now, began + this.#stepMs) - began;
    const after = Math.min(passed, began + passed - from);
    return passed > 0 && after > 0 ? after / passed : 0;
  }

  #advance(now: number): void {
    while (this.#upTo < now) {
      const number = Math.floor(this.#upTo / this.#stepMs);
      const end = Math.min(now, (number + 1) * this.#stepMs);
      if (this.#underWay > 0) this.#step(this.#upTo).work += this.#underWay * (end - this.#upTo);
      // Nothing was in progress, so no steps need to be recorded.
      this.#upTo = this.#underWay > 0 ? end : now;
    }
    const oldest = Math.floor(now / this.#stepMs) - steps;
    if ((this.#steps[0]?.number ?? oldest) < oldest) {
      this.#steps = this.#steps.filter(({ number }) => number >= oldest);
    }
  }

  #step(at: number): Step {
    const number = Math.floor(at / this.#stepMs);
    const last = this.#steps.at(-1);
    if (last?.number === number) return last;
    const step = { number, work: 0, began: 0, wanted: 0 };
    this.#steps.push(step);
    return step;
  }
}
