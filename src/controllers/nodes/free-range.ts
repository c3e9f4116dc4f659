/** Finds room for a new range of addresses. Pure. */
import type { PrefixRange } from '../../base/address-families.ts';

/**
 * Returns the lowest range of `prefix` bits inside `cluster` that overlaps none of `used`, or undefined if
 * there is none. Ranges of another family count for nothing.
 */
export function nextFreeRange(
  cluster: PrefixRange,
  prefix: number,
  used: readonly PrefixRange[],
): PrefixRange | undefined {
  const { family } = cluster;
  const step = 1n << BigInt((family === 4 ? 32 : 128) - prefix);
  let { first } = cluster;
  for (const range of used.filter((one) => one.family === family).sort(byFirst)) {
    if (range.first >= first + step) break;
    if (range.last >= first) first = (range.last / step + 1n) * step;
  }
  const last = first + step - 1n;
  return last <= cluster.last ? { family, first, last, prefix } : undefined;
}

const byFirst = (a: PrefixRange, b: PrefixRange) => (a.first < b.first ? -1 : 1);
