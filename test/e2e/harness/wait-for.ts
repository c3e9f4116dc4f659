/**
 * Waits for external events, with a deadline: end-to-end tests have no clock to advance. The pause after a
 * slow probe, such as one that starts a program, is longer, to leave the processors to the tested programs.
 */

export interface WaitOptions {
  readonly timeoutMs?: number;
  /** Minimum interval between two probes, in milliseconds. */
  readonly intervalMs?: number;
}

/** Factor of a pause to the duration of the probe before it, up to the maximum pause. */
const restFactor = 2;
const maxRestMs = 500;

/**
 * Calls `probe` until its result is not undefined or false, and returns the result. Errors of the probe count
 * as "not yet"; the last one is reported when the deadline passes.
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
    const restMs = Math.min(maxRestMs, restFactor * (performance.now() - begun));
    await new Promise((resolve) => setTimeout(resolve, Math.max(intervalMs, restMs)));
  }
}
