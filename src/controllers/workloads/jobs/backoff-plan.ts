/**
 * Back-off of a Job before it replaces failed pods: 10 s, doubled with each failure, at most 10 minutes.
 * Pure.
 */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { backoffMs } from '../../../base/backoff.ts';
import { failuresBefore, finishedAt, ignoredFailuresBefore } from './job-pods-plan.ts';

const times = { initialMs: 10_000, maxMs: 600_000 };

export interface Backoff {
  /** Failures since the last pod that succeeded. */
  readonly failures: number;
  /** Time of the last failure in milliseconds; meaningless without failures. */
  readonly lastFailure: number;
}

export const noBackoff: Backoff = { failures: 0, lastFailure: 0 };

/** Returns the back-off after these pods have ended since `before`. */
export function backoffAfter(before: Backoff, succeeded: readonly Pod[], failed: readonly Pod[]): Backoff {
  const lastSuccess = latest(succeeded.map(finishedAt));
  const since = failed.map(finishedAt).filter((time) => lastSuccess === undefined || time > lastSuccess);
  const base = lastSuccess === undefined ? before : noBackoff;
  const lastFailure = latest(since);
  return lastFailure === undefined ? base : { failures: base.failures + since.length, lastFailure };
}

const latest = (times: readonly number[]): number | undefined =>
  times.reduce<number | undefined>(
    (last, time) => (last === undefined || time > last ? time : last),
    undefined,
  );

/**
 * Returns the remaining milliseconds. They never exceed the whole back-off, even if a node's clock is ahead.
 */
export function remainingBackoff({ failures, lastFailure }: Backoff, now: number): number {
  const wait = backoffMs(times, failures);
  return Math.min(wait, Math.max(0, lastFailure + wait - now));
}

/** Returns the back-off of one index whose last pod this was. */
export const backoffOfIndex = (pod: Pod): Backoff => ({
  failures: failuresBefore(pod) + ignoredFailuresBefore(pod) + 1,
  lastFailure: finishedAt(pod),
});
