/** How long a Job waits before it replaces pods that failed: 10 s, doubled with each failure, 10 minutes at most. Pure. */
import type { Pod } from '../../../api/core/v1/pod.ts';
import { backoffMs } from '../../../base/backoff.ts';
import { failuresBefore, finishedAt, ignoredFailuresBefore } from './job-pods-plan.ts';

const times = { initialMs: 10_000, maxMs: 600_000 };

export interface Backoff {
  /** Since the last pod that succeeded. */
  readonly failures: number;
  /** In milliseconds; of no meaning without failures. */
  readonly lastFailure: number;
}

export const noBackoff: Backoff = { failures: 0, lastFailure: 0 };

/** `before`, and these pods that have ended since. */
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

/** Milliseconds; never more than the whole wait, though a node's clock is ahead. */
export function remainingBackoff({ failures, lastFailure }: Backoff, now: number): number {
  const wait = backoffMs(times, failures);
  return Math.min(wait, Math.max(0, lastFailure + wait - now));
}

/** That of one index, of which this pod was the last. */
export const backoffOfIndex = (pod: Pod): Backoff => ({
  failures: failuresBefore(pod) + ignoredFailuresBefore(pod) + 1,
  lastFailure: finishedAt(pod),
});
