import type { PodAction, PodPlan } from './actions.ts';

/** A plan under construction. */
export class Draft {
  readonly #actions: PodAction[] = [];
  #wakeIn: number | undefined;

  add(action: PodAction): void {
    this.#actions.push(action);
  }

  /** Requests another plan after this many milliseconds; the earliest request counts. */
  wakeIn(ms: number): void {
    this.#wakeIn = Math.min(this.#wakeIn ?? ms, ms);
  }

  finish(): PodPlan {
    return { actions: this.#actions, requeueAfter: this.#wakeIn };
  }
}
