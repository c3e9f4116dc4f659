/** Binary search in sorted string arrays. Order is JavaScript's, which equals the store's for ASCII keys. */

/** The index of `key` if it is there, else the index at which it belongs. */
export function insertionPoint(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  const last = keys[high - 1];
  if (last === undefined || last < key) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    const candidate = keys[middle];
    if (candidate !== undefined && candidate < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
