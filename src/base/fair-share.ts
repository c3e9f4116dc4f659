/**
 * How much one of many may hold of something scarce that is given back late. No one has more than half of it, and the last quarter is
 * for those who have next to nothing: however much a few hold, another one's first is there at once. Pure.
 */

/** Of this many parts one is next to nothing; at least one piece. */
const leastPart = 32;

/** How many more one may take who has `own`, where there are `all` and those who want some have `taken` together. */
export function roomFor(all: number, taken: number, own: number): number {
  const free = all - taken;
  const kept = Math.floor(all / 4);
  const few = Math.max(1, Math.floor(all / leastPart));
  const usual = Math.min(Math.floor(all / 2) - own, free - kept);
  const first = Math.min(few - own, free);
  return Math.max(0, usual, first);
}
