/** Work of the event loop, as reports of blocking name it. Pure. */
import type { Fields } from '../log.ts';

export interface Work {
  /** One of a few words, such as `request`; used as a metric label. */
  readonly kind: string;
  /**
   * Returns fields that identify the work in the log, without secrets; called only when the work is reported.
   */
  describe(): Fields;
}

/** Measures one turn of the event loop: finds the marked work that took longest. */
export class TurnSegments {
  readonly began: number;
  #work: Work;
  #since: number;
  #longest: Work;
  #maxMs = -1;

  /** `now` is monotonic, in milliseconds. */
  constructor(work: Work, now: number) {
    this.began = now;
    this.#work = work;
    this.#longest = work;
    this.#since = now;
  }

  /** The work that was marked last. */
  get work(): Work {
    return this.#work;
  }

  /** Ends the previous work and begins this one. */
  mark(work: Work, now: number): void {
    this.#close(now);
    this.#work = work;
    this.#since = now;
  }

  /** Ends the turn and returns the work that took longest, with its milliseconds. */
  end(now: number): { readonly work: Work; readonly ms: number } {
    this.#close(now);
    return { work: this.#longest, ms: this.#maxMs };
  }

  #close(now: number): void {
    const ms = now - this.#since;
    if (ms <= this.#maxMs) return;
    this.#maxMs = ms;
    this.#longest = this.#work;
  }
}
