/** Address ranges of which no two overlap, each with its owner; finds what a new one would overlap. */
import { parseCidr } from '../ipam.ts';

interface Range {
  readonly cidr: string;
  readonly owner: string;
  readonly first: number;
  readonly last: number;
}

export class Ranges {
  /** In the order of their addresses. */
  readonly #ranges: Range[] = [];

  /** The range that is in the way; undefined when the new one was taken in. */
  claim(cidr: string, owner: string): { readonly cidr: string; readonly owner: string } | undefined {
    const range = { ...limitsOf(cidr), cidr, owner };
    const index = this.#firstNotBefore(range.first);
    const next = this.#ranges[index];
    if (next && next.first <= range.last) return next;
    this.#ranges.splice(index, 0, range);
    return undefined;
  }

  /** The index of the first range that ends at the address or later. */
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

export function contains(outer: string, inner: string): boolean {
  const [x, y] = [limitsOf(outer), limitsOf(inner)];
  return x.first <= y.first && y.last <= x.last;
}

function limitsOf(cidr: string): { readonly first: number; readonly last: number } {
  const { base, bits } = parseCidr(cidr);
  return { first: base, last: base + 2 ** (32 - bits) - 1 };
}
