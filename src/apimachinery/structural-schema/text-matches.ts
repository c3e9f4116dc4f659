/** Results of the patterns of a schema for the texts of one object, which take time for long texts. */
import type { Pattern } from '../re2.ts';

/**
 * Thrown when a slice of matching is used up: the validation is repeated, without matching long texts again.
 */
export const pausedMatching: unique symbol = Symbol('paused matching');

/** Characters that are matched in one slice: some milliseconds. */
const sliceCharacters = 200_000;

/** Texts up to this length are matched again when a validation is repeated. */
const maxShort = 64;

export class Matches {
  readonly #known = new Map<Pattern, Map<string, boolean>>();
  #characters = 0;

  beginSlice(): void {
    this.#characters = 0;
  }

  /**
   * Returns whether the pattern matches. Throws pausedMatching; the same call after the next `beginSlice`
   * continues.
   */
  test(pattern: Pattern, text: string): boolean {
    if (text.length <= maxShort) return pattern.matches(text);
    const known = this.#known.get(pattern) ?? new Map<string, boolean>();
    const before = known.get(text);
    if (before !== undefined) return before;
    if (this.#characters > sliceCharacters) throw pausedMatching;
    this.#characters += text.length;
    const result = pattern.matches(text);
    this.#known.set(pattern, known.set(text, result));
    return result;
  }
}
