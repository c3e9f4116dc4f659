/**
 * Second round of the mutating webhooks, and of the mutating policies: a webhook or policy with the
 * reinvocation policy IfNeeded is called again if the object has changed since its call (upstream:
 * webhook/mutating and policy/mutating, reinvocationcontext.go).
 */
import { deepCopy, deepEqual } from '../../../apimachinery/equality.ts';

export class Reinvocation {
  #round = 0;
  #output: unknown;
  #willing = new Set<string>();
  readonly #due = new Set<string>();
  #needed = false;

  /** Called before each round, with the object as the previous plugins have left it. */
  begin(object: unknown): void {
    if (this.#round > 0 && !deepEqual(this.#output, object)) this.#requireAgain();
  }

  /** Called after each round. Returns true if another round is needed: after the first one only. */
  end(object: unknown): boolean {
    this.#output = deepCopy(object);
    this.#round++;
    return this.#round === 1 && this.#needed;
  }

  /** Returns whether the webhook or policy is called in this round. */
  calls(id: string): boolean {
    return this.#round === 0 || this.#due.has(id);
  }

  /** Called after the call of a webhook or policy. */
  called(id: string, policy: string | undefined, changed: boolean): void {
    if (changed) {
      this.#requireAgain();
      this.#needed = true;
    }
    if (policy === 'IfNeeded') this.#willing.add(id);
  }

  #requireAgain(): void {
    for (const id of this.#willing) this.#due.add(id);
    this.#willing = new Set();
  }
}
