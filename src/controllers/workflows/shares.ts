/**
 * How much of a controller one namespace may hold at a time. Expressions of workflows take seconds, and whoever may write runs may
 * write thousands: runs of other namespaces must go on meanwhile.
 */
import { type ObjectKey, splitKey } from '../../apimachinery/meta.ts';

export class Shares {
  readonly #most: number;
  /** By namespace: how many keys are worked on. */
  readonly #busy = new Map<string, number>();
  /** By namespace: the keys that were turned away, in that order. */
  readonly #turnedAway = new Map<string, Set<ObjectKey>>();

  /** `most`: how many keys of one namespace are worked on at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether the key may be worked on now; `leave` follows then. One that may not is told by a later `leave`. */
  enter(key: ObjectKey): boolean {
    const { namespace } = splitKey(key);
    const busy = this.#busy.get(namespace) ?? 0;
    if (busy < this.#most) {
      this.#busy.set(namespace, busy + 1);
      this.#turnedAway.get(namespace)?.delete(key);
      return true;
    }
    this.#turnedAway.getOrInsertComputed(namespace, () => new Set()).add(key);
    return false;
  }

  /** The work on the key is over. The key whose turn it is now, of those that were turned away. */
  leave(key: ObjectKey): ObjectKey | undefined {
    const { namespace } = splitKey(key);
    const busy = (this.#busy.get(namespace) ?? 0) - 1;
    if (busy > 0) this.#busy.set(namespace, busy);
    else this.#busy.delete(namespace);
    const waiting = this.#turnedAway.get(namespace);
    const [next] = waiting ?? [];
    if (next !== undefined) waiting?.delete(next);
    if (waiting?.size === 0) this.#turnedAway.delete(namespace);
    return next;
  }
}
