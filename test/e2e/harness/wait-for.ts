/**
 * Waiting for the world, with a deadline: end to end there is no clock to step. Who waits leaves the processors to who
 * works: after a look that took long, such as one by a program, the pause is longer.
 */

export interface WaitOptions {
  readonly timeoutMs?: number;
  /** The least between two looks. */
  readonly intervalMs?: number;
}

/** A pause is as many times as long as the look before it, up to the longest. */
const restFactor = 2;
const longestRestMs = 500;

/**
 * Calls `probe` until it answers something other than undefined or false, and returns that. What it throws counts as
 * "not yet", and is told when the deadline passes.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { timeoutMs = 60_000, intervalMs = 50 }: WaitOptions = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let last: unknown = 'not yet';
    const begun = performance.now();
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      last = error;
    }
    if (Date.now() >= deadline) {
      throw new Error(`${what}: not within ${timeoutMs / 1000} s (${String(last)})`, { cause: last });
    }
    const restMs = Math.min(longestRestMs, restFactor * (performance.now() - begun));
    await new Promise((resolve) => setTimeout(resolve, Math.max(intervalMs, restMs)));
  }
}
