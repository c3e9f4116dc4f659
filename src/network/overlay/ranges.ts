/** Address ranges that do not overlap, each with its owner; finds the range that a new one would overlap. */
import { containsRange, lastOf, requireRange } from '../../base/addresses.ts';

interface Range {
  readonly cidr: string;
  readonly owner: string;
  readonly first: number;
  readonly last: number;
}

export class Ranges {
  /** Sorted by address. */
  readonly #ranges: Range[] = [];

  /** Adds a range and returns undefined, or returns the range that it overlaps. */
  claim(cidr: string, owner: string): { readonly cidr: string; readonly owner: string } | undefined {
    const range = { ...limitsOf(cidr), cidr, owner };
    const index = this.#firstNotBefore(range.first);
    const next = this.#ranges[index];
    if (next && next.first <= range.last) return next;
    this.#ranges.splice(index, 0, range);
    return undefined;
  }

  /** Returns the index of the first range that ends at the address or later. */
  #firstNotBefore(address: number): number {
    let [low, high] = [0, this.#ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ranges[middle]?.last ?? 0) < address) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export const contains = (outer: string, inner: string) =>
  containsRange(requireRange(outer), requireRange(inner));

function limitsOf(cidr: string): { readonly first: number; readonly last: number } {
  const range = requireRange(cidr);
  return { first: range.first, last: lastOf(range) };
}
