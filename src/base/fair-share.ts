/**
 * Fair limits for a scarce resource that is returned late. No user may hold more than half of it, and the
 * last quarter is reserved for users that hold next to nothing: however much a few users hold, another user's
 * first piece is available at once. Pure.
 */

/** Divisor of the total: a user with at most this part of it, or with one piece, holds next to nothing. */
const minPart = 32;

/**
 * Returns how many more pieces a user with `own` pieces may take. `all` is the total, `taken` the pieces that
 * all users hold.
 */
export function roomFor(all: number, taken: number, own: number): number {
  const free = all - taken;
  const kept = Math.floor(all / 4);
  const few = Math.max(1, Math.floor(all / minPart));
  const usual = Math.min(Math.floor(all / 2) - own, free - kept);
  const first = Math.min(few - own, free);
  return Math.max(0, usual, first);
}
