import type { PodAction, PodPlan } from './actions.ts';

/** A plan that is being made. */
export class Draft {
  readonly #actions: PodAction[] = [];
  #wakeIn: number | undefined;

  add(action: PodAction): void {
    this.#actions.push(action);
  }

  /** Milliseconds; the soonest counts. */
  wakeIn(ms: number): void {
    this.#wakeIn = Math.min(this.#wakeIn ?? ms, ms);
  }

  finish(): PodPlan {
    return { actions: this.#actions, requeueAfter: this.#wakeIn };
  }
}
