/** The longest time without an acknowledged write during an operation on a cluster. */
import { setTimeout as pause } from 'node:timers/promises';

/** Writes once; rejects if the write is not acknowledged. */
export type Write = () => Promise<unknown>;

/** Milliseconds between two writes. */
const restMs = 5;

/**
 * Writes again and again while `act` runs and until `calmMs` milliseconds after it. Resolves to the longest
 * time between two acknowledged writes in milliseconds.
 */
export async function longestGap(write: Write, act: () => Promise<void>, calmMs: number): Promise<number> {
  let [longest, last, going] = [0, performance.now(), true];
  const writing = (async () => {
    while (going) {
      try {
        await write();
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      } catch {
        // The gap continues.
      }
      await pause(restMs);
    }
  })();
  try {
    await act();
    await pause(calmMs);
  } finally {
    going = false;
    await writing;
  }
  return Math.max(longest, performance.now() - last);
}
