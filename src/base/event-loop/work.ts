/** Work that the event loop does, as a report of a hold names it. Pure. */
import type { Fields } from '../log.ts';

export interface Work {
  /** One of few words, such as `request`: it is a label of a metric. */
  readonly kind: string;
  /** Fields that name the work in the log, without secrets; called only when the work is reported. */
  describe(): Fields;
}

/** Adds up one turn of the event loop: which of the work marked in it took longest. */
export class TurnSegments {
  readonly began: number;
  #work: Work;
  #since: number;
  #longest: Work;
  #longestMs = -1;

  /** `now`: monotonic, in milliseconds. */
  constructor(work: Work, now: number) {
    this.began = now;
    this.#work = work;
    this.#longest = work;
    this.#since = now;
  }

  /** What was marked last. */
  get work(): Work {
    return this.#work;
  }

  /** Ends the work before and begins this one. */
  mark(work: Work, now: number): void {
    this.#close(now);
    this.#work = work;
    this.#since = now;
  }

  /** Ends the turn: the work that took longest, and its milliseconds. */
  end(now: number): { readonly work: Work; readonly ms: number } {
    this.#close(now);
    return { work: this.#longest, ms: this.#longestMs };
  }

  #close(now: number): void {
    const ms = now - this.#since;
    if (ms <= this.#longestMs) return;
    this.#longestMs = ms;
    this.#longest = this.#work;
  }
}
