/** Limits the number of concurrent operations; others wait in order. */
export class Lane {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(width: number) {
    this.#free = width;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The next waiting operation takes over the slot.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
