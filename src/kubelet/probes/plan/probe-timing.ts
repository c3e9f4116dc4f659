/** The numbers of a probe. The API server fills in what is not said; these are for a pod that it has not seen. */
import type { Probe } from '../../../api/core/v1/types.gen.ts';

export interface ProbeTiming {
  readonly initialDelayMs: number;
  readonly periodMs: number;
  readonly timeoutMs: number;
  /** Results in a row. */
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
 * Probes are run at moments that lie this far apart on the node's clock: what falls due in between waits for the next, so that
 * an agent of many probes wakes up for some of them at once, not for each. That halves what a hundred a second cost.
 */
export const momentMs = 50;

/**
 * When the probe is run again, by the clock that nobody sets. `due`: of the run that has just ended, which may have taken
 * longer than a period.
 */
export const nextRun = ({ due, periodMs, now }: { due: number; periodMs: number; now: number }): number =>
  Math.ceil(Math.max(due + periodMs, now) / momentMs) * momentMs;
