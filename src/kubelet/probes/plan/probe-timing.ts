/**
 * Times and thresholds of a probe. The API server sets missing values; the defaults here are for a pod that
 * it has not processed.
 */
import type { Probe } from '../../../api/core/v1/types.gen.ts';

export interface ProbeTiming {
  readonly initialDelayMs: number;
  readonly periodMs: number;
  readonly timeoutMs: number;
  /** Consecutive results that are required. */
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

export const timingOf = ({
  initialDelaySeconds = 0,
  periodSeconds = 10,
  timeoutSeconds = 1,
  successThreshold = 1,
  failureThreshold = 3,
}: Probe): ProbeTiming => ({
  initialDelayMs: initialDelaySeconds * 1000,
  periodMs: periodSeconds * 1000,
  timeoutMs: timeoutSeconds * 1000,
  successThreshold,
  failureThreshold,
});

/**
 * Probes run at moments that are this far apart on the node's clock: a probe that is due in between waits for
 * the next one. An agent with many probes therefore wakes up for several of them at once, not for each, which
 * halves the cost of a hundred probes per second.
 */
export const momentMs = 50;

/**
 * Returns the monotonic time of the next run. `due` is the time of the run that has just ended, which may
 * have taken longer than a period.
 */
export const nextRun = ({ due, periodMs, now }: { due: number; periodMs: number; now: number }): number =>
  Math.ceil(Math.max(due + periodMs, now) / momentMs) * momentMs;
