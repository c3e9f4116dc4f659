/**
 * Something scarce that is shared between namespaces: who finds none of it stands in the line of his namespace, and the lines take
 * turns. Expressions of workflows take seconds and calls of functions hours, and whoever may write runs may write thousands: runs of
 * other namespaces must go on meanwhile.
 */
import { roomFor } from '../../base/fair-share.ts';

export class Shares<T> {
  readonly #all: number;
  #taken = 0;
  /** By namespace: how much it has. */
  readonly #own = new Map<string, number>();
  /** By namespace: those who found none, in that order. The namespace at the front is next. */
  readonly #lines = new Map<string, Set<T>>();

  constructor(all: number) {
    this.#all = all;
  }

  /** Whether one more of the namespace may have some now, and nobody of it waits. Takes nothing. */
  isFree(namespace: string): boolean {
    return !this.#lines.has(namespace) && this.#hasRoom(namespace);
  }

  /** Whether it has some now; `leave` follows then. Who has not is told by a later `leave`, and enters again. */
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

  /** One of the namespace gives back what it had. Whose turn it is now, of those in line. */
  leave(namespace: string): T | undefined {
    const left = (this.#own.get(namespace) ?? 0) - 1;
    if (left > 0) this.#own.set(namespace, left);
    else this.#own.delete(namespace);
    this.#taken--;
    return this.#next();
  }

  /** It waits no more. */
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
