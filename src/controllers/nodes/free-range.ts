/** Finds room for a new range of addresses. Pure. */
import { type IPv4Range, lastOf, sizeOf } from '../../base/addresses.ts';

/**
 * Returns the lowest range of `prefix` bits inside `cluster` that overlaps none of `used`, or undefined if
 * there is none.
 */
export function nextFreeRange(
  cluster: IPv4Range,
  prefix: number,
  used: readonly IPv4Range[],
): IPv4Range | undefined {
  const step = sizeOf({ prefix });
  let { first } = cluster;
  for (const range of used.toSorted((a, b) => a.first - b.first)) {
    if (range.first >= first + step) break;
    if (lastOf(range) >= first) first = Math.ceil((lastOf(range) + 1) / step) * step;
  }
  return first + step - 1 <= lastOf(cluster) ? { first, prefix } : undefined;
}
