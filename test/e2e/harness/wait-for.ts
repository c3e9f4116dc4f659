/**
 * Waits for external events, with a deadline: end-to-end tests have no clock to advance. To leave the
 * processors to the tested programs, the pause is longer after a slow probe, such as one that starts a
 * program, and grows with the time waited so far.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  readonly timeoutMs?: number;
  /**
   * Minimum pause between two probes, in milliseconds, for a test that measures a time or counts probes: the
   * pause does not grow with the time waited so far.
   */
  readonly intervalMs?: number | undefined;
}

const defaultIntervalMs = 50;
/** Factor of a pause to the duration of the probe before it, up to the maximum pause. */
const restFactor = 2;
const maxRestMs = 500;
/**
 * Ratio of a pause to the time waited so far, up to the maximum pause; a wait ends late by at most this
 * share.
 */
const waitedShare = 0.1;
const maxLateMs = 2_000;

/** Returns the pause before the next probe, in milliseconds. */
export function restMs(probeMs: number, waitedMs: number, intervalMs?: number): number {
  const rest = Math.max(intervalMs ?? defaultIntervalMs, Math.min(maxRestMs, restFactor * probeMs));
  return intervalMs === undefined ? Math.max(rest, Math.min(maxLateMs, waitedShare * waitedMs)) : rest;
}

/**
 * Calls `probe` until its result is not undefined or false, and returns the result. Errors of the probe count
 * as "not yet"; the last one is reported when the deadline passes.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { timeoutMs = 60_000, intervalMs }: WaitOptions = {},
): Promise<T> {
  const start = performance.now();
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
    const now = performance.now();
    await sleep(restMs(now - begun, now - start, intervalMs));
  }
}
