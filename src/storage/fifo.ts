/** A queue that removes its oldest item at a constant cost, whatever its length. */
export class Fifo<T> {
  #items: T[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Returns an item by its index; 0 is the oldest. */
  at(index: number): T | undefined {
    return this.#items[this.#first + index];
  }

  /** Removes and returns the oldest item; undefined if the queue is empty. */
  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#first++];
    // The remaining items are moved once per as many removed ones.
    if (this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}
