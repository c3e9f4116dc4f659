/**
 * Cache of the encodings of objects and events, for one way of encoding. An entry is found by its object and
 * freed with it; the oldest entries are evicted when all together exceed the budget.
 */
import { Fifo } from '../../storage/fifo.ts';

export class Budget {
  readonly #limit: number;
  readonly #held = new Fifo<{ readonly bytes: number; readonly forget: () => void }>();
  #bytes = 0;

  /** `limit` is in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  hold(bytes: number, forget: () => void): void {
    this.#held.push({ bytes, forget });
    this.#bytes += bytes;
    while (this.#bytes > this.#limit) {
      const oldest = this.#held.shift();
      if (!oldest) return;
      this.#bytes -= oldest.bytes;
      oldest.forget();
    }
  }
}

export class MadeOnce<T extends object> {
  readonly #budget: Budget;
  readonly #made = new WeakMap<T, Buffer>();

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get(from: T): Buffer | undefined {
    return this.#made.get(from);
  }

  /** Stores and returns `made`. An entry that is larger than the whole budget is evicted at once. */
  keep(from: T, made: Buffer): Buffer {
    this.#made.set(from, made);
    const weak = new WeakRef(from);
    this.#budget.hold(made.length, () => {
      const old = weak.deref();
      if (old) this.#made.delete(old);
    });
    return made;
  }
}
