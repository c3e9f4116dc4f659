/** Binary search. The order is JavaScript's, which equals the store's for ASCII keys. */

/**
 * Returns the number of leading items for which `isBefore` is true; `isBefore` must be false for every item
 * after the first for which it is false.
 */
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

/** Returns the index of `key` if it exists, otherwise the index at which it must be inserted. */
export const insertionPoint = (keys: readonly string[], key: string): number =>
  countBefore(keys.length, (index) => (keys[index] as string) < key);
