/** Binary search. Order is JavaScript's, which equals the store's for ASCII keys. */

/** How many of the first items `isBefore` holds for: of `length` items, for none after one for which it does not. */
export function countBefore(length: number, isBefore: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of `key` if it is there, else the index at which it belongs. */
export const insertionPoint = (keys: readonly string[], key: string): number =>
  countBefore(keys.length, (index) => (keys[index] as string) < key);
