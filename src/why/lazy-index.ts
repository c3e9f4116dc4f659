/** An index of objects that is created when it is first used, or before that in steps. Pure. */
import { inOneGo, type Steps } from '../apimachinery/steps.ts';

/** Number of items between two steps. */
const itemsOfStep = 250;

export class LazyIndex<T> {
  readonly #items: () => readonly T[];
  readonly #keysOf: (item: T) => readonly string[];
  #groups: ReadonlyMap<string, readonly T[]> | undefined;

  constructor(items: () => readonly T[], keysOf: (item: T) => readonly string[]) {
    this.#items = items;
    this.#keysOf = keysOf;
  }

  /** Returns the items with a key, in their order. */
  get(key: string): readonly T[] {
    if (!this.#groups) inOneGo(this.prepare());
    return this.#groups?.get(key) ?? [];
  }

  /** Creates the index in steps, unless it exists. */
  *prepare(): Steps<void> {
    if (this.#groups) return;
    const groups = new Map<string, T[]>();
    let count = 0;
    for (const item of this.#items()) {
      if (count++ % itemsOfStep === 0) yield;
      for (const key of this.#keysOf(item)) {
        const group = groups.get(key);
        if (group) group.push(item);
        else groups.set(key, [item]);
      }
    }
    this.#groups = groups;
  }
}
