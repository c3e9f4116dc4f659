/** A queue whose oldest item goes at the same cost however long it is. */
export class Fifo<T> {
  #items: T[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** From 0, the oldest. */
  at(index: number): T | undefined {
    return this.#items[this.#first + index];
  }

  /** Takes the oldest out; undefined when there is none. */
  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#first++];
    // What is left is moved once for as many that have gone.
    if (this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}
