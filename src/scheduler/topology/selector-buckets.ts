/**
 * Indexes items by the labels that their selectors require. An object is compared only with items whose
 * selectors contain one of its labels with its value, not with all items. Pure.
 */
import type { Labels, Selector } from '../../apimachinery/labels.ts';

export class SelectorBuckets<T> {
  readonly #byPair = new Map<string, Set<T>>();
  /** Items whose selectors require no label with a given value. */
  readonly #others = new Set<T>();

  add(item: T, selector: Selector): void {
    if (selector.nothing) return;
    const pairs = pairsOf(selector);
    if (!pairs) this.#others.add(item);
    for (const pair of pairs ?? []) {
      const items = this.#byPair.get(pair);
      if (items) items.add(item);
      else this.#byPair.set(pair, new Set([item]));
    }
  }

  delete(item: T, selector: Selector): void {
    this.#others.delete(item);
    for (const pair of pairsOf(selector) ?? []) {
      const items = this.#byPair.get(pair);
      items?.delete(item);
      if (items?.size === 0) this.#byPair.delete(pair);
    }
  }

  /** Returns all items whose selector may match such labels, each once. The caller must check the match. */
  candidates(labels: Labels | undefined): Iterable<T> {
    if (this.#byPair.size === 0) return this.#others;
    const found = new Set(this.#others);
    for (const [key, value] of Object.entries(labels ?? {}))
      for (const item of this.#byPair.get(pairText(key, value)) ?? []) found.add(item);
    return found;
  }
}

/** Returns the labels of which an object must have one; those of the requirement with the fewest values. */
function pairsOf({ requirements }: Selector): string[] | undefined {
  let best: { readonly key: string; readonly values: readonly string[] } | undefined;
  for (const { key, operator, values } of requirements)
    if ((operator === '=' || operator === 'in') && (!best || values.length < best.values.length))
      best = { key, values };
  return best?.values.map((value) => pairText(best.key, value));
}

const pairText = (key: string, value: string) => `${key}\0${value}`;
