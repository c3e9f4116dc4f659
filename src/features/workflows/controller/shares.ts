/**
 * Shares a scarce resource between namespaces: members of a namespace wait in its queue, and the queues take
 * turns. Expressions of workflows take seconds and calls of functions hours, and a user with write access may
 * create thousands of runs. Runs of other namespaces must continue in the meantime.
 */
import { roomFor } from '../../../base/fair-share.ts';

export class Shares<T> {
  readonly #all: number;
  #taken = 0;
  /** Number of units in use by namespace. */
  readonly #own = new Map<string, number>();
  /** Waiting members by namespace, in order. The first namespace is next. */
  readonly #lines = new Map<string, Set<T>>();

  constructor(all: number) {
    this.#all = all;
  }

  /**
   * Returns true if the namespace could get a unit now and has no waiting members. Does not take the unit.
   */
  isFree(namespace: string): boolean {
    return !this.#lines.has(namespace) && this.#hasRoom(namespace);
  }

  /**
   * Takes a unit and returns true; the caller must call `leave` later. Otherwise queues the member and
   * returns false; a later `leave` returns it, and it must enter again.
   */
  enter(namespace: string, one: T): boolean {
    if (!this.#hasRoom(namespace)) {
      this.#lines.getOrInsertComputed(namespace, () => new Set()).add(one);
      return false;
    }
    this.#taken++;
    this.#own.set(namespace, (this.#own.get(namespace) ?? 0) + 1);
    this.forget(namespace, one);
    return true;
  }

  /** Gives back a unit of the namespace. Returns the waiting member whose turn it is, if any. */
  leave(namespace: string): T | undefined {
    const left = (this.#own.get(namespace) ?? 0) - 1;
    if (left > 0) this.#own.set(namespace, left);
    else this.#own.delete(namespace);
    this.#taken--;
    return this.#next();
  }

  /** Removes a member from its queue. */
  forget(namespace: string, one: T): void {
    const line = this.#lines.get(namespace);
    line?.delete(one);
    if (line?.size === 0) this.#lines.delete(namespace);
  }

  #hasRoom(namespace: string): boolean {
    return roomFor(this.#all, this.#taken, this.#own.get(namespace) ?? 0) > 0;
  }

  #next(): T | undefined {
    for (const [namespace, line] of this.#lines) {
      if (!this.#hasRoom(namespace)) continue;
      this.#lines.delete(namespace);
      const [first] = line;
      if (first !== undefined) line.delete(first);
      if (line.size > 0) this.#lines.set(namespace, line);
      return first;
    }
    return undefined;
  }
}
