/** When a probe is run for the first time. */
import { timingOf } from './probe-timing.ts';
import type { WantedProbe } from './wanted-probes.ts';

/** Moments in milliseconds since the epoch; `share`: drawn, from 0 to 1. */
export interface Situation {
  readonly now: number;
  /** When this agent began to run probes. */
  readonly since: number;
  readonly share: number;
}

/**
 * Milliseconds. A container that ran before this agent did is probed at some moment of a period, so that not all are probed
 * at once.
 */
export function firstDelayMs(
  { kind, probe, startedAt }: WantedProbe,
  { now, since, share }: Situation,
): number {
  const { initialDelayMs, periodMs } = timingOf(probe);
  // What restarts a container leaves it a period; what lets it serve is asked at once.
  const delay = Math.max(initialDelayMs, kind === 'liveness' ? periodMs : 0);
  // The machine's clock may have been set meanwhile: no longer than for a container that starts now.
  const left = Math.min(Math.max(startedAt + delay - now, 0), delay);
  return startedAt < since ? left + share * periodMs : left;
}

/**
 * Whether a failure of the first run counts. A startup probe is run at once, since nothing else of the container begins
 * before it succeeds; its container has its first period all the same.
 */
export const firstFailureCounts = ({ kind, probe }: WantedProbe): boolean =>
  kind !== 'startup' || timingOf(probe).initialDelayMs > 0;
