/** The time of a probe's first run. */
import { timingOf } from './probe-timing.ts';
import type { WantedProbe } from './wanted-probes.ts';

/** Times are in milliseconds since the epoch; `share` is random, from 0 to 1. */
export interface Situation {
  readonly now: number;
  /** Time at which this agent began to run probes. */
  readonly since: number;
  readonly share: number;
}

/**
 * Returns the delay in milliseconds. Containers that ran before this agent started are probed at random times
 * within a period, so that not all are probed at once.
 */
export function firstDelayMs(
  { kind, probe, startedAt }: WantedProbe,
  { now, since, share }: Situation,
): number {
  const { initialDelayMs, periodMs } = timingOf(probe);
  // A liveness probe, which restarts its container, first runs after one period; the other kinds run at once.
  const delay = Math.max(initialDelayMs, kind === 'liveness' ? periodMs : 0);
  // The machine's clock may have been changed: the delay is limited to the delay of a container that starts
  // now.
  const left = Math.min(Math.max(startedAt + delay - now, 0), delay);
  return startedAt < since ? left + share * periodMs : left;
}

/**
 * Returns true when a failure of the first run counts. A startup probe without an initial delay
 * runs at once, because nothing else of the container begins before it succeeds; a failure of that first run
 * is ignored, so that the container still has its first period.
 */
export const firstFailureCounts = ({ kind, probe }: WantedProbe): boolean =>
  kind !== 'startup' || timingOf(probe).initialDelayMs > 0;
