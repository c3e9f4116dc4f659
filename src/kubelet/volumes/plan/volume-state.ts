/** States of a pod's volumes on this machine, and their meaning for the pod. */
import { backoffMs } from '../../../base/backoff.ts';

/** State of one volume, as observed since this agent started. */
export interface VolumeState {
  readonly name: string;
  /** True when containers can use the volume. */
  readonly isMounted: boolean;
  /** True when the volume's steps must run now: it is not mounted, or not as it should be. */
  readonly isDue: boolean;
  /** Time at which the volume becomes due even if nothing changes, in milliseconds since the epoch. */
  readonly dueAt: number | undefined;
}

/** The last attempt to make a volume, and its result. Times are in milliseconds since the epoch. */
export interface VolumeAttempt {
  /** Description of the sources from which the volume was made. */
  readonly basis: string;
  readonly isMounted: boolean;
  /** Time at which its content must be renewed, for example a token. */
  readonly renewAt: number | undefined;
  readonly failure: VolumeFailure | undefined;
}

export interface VolumeFailure {
  /** Consecutive failures, at least 1. */
  readonly count: number;
  readonly retryAt: number;
}

/**
 * Back-off as upstream's util/goroutinemap/exponentialbackoff. The first delay is short because missing
 * sources often appear a moment later.
 */
const backoff = { initialMs: 500, maxMs: 122_000 };

/**
 * Returns a failed attempt at `now` (milliseconds since the epoch). The count increases while the volume's
 * basis stays the same.
 */
export function failedAttempt(
  before: VolumeAttempt | undefined,
  basis: string,
  isMounted: boolean,
  now: number,
): VolumeAttempt {
  const count = before?.failure && before.basis === basis ? before.failure.count + 1 : 1;
  return {
    basis,
    isMounted,
    renewAt: undefined,
    failure: { count, retryAt: now + backoffMs(backoff, count) },
  };
}

/** Returns the volume's state. `basis` describes the sources from which the volume would be made now. */
export function volumeState(
  name: string,
  attempt: VolumeAttempt | undefined,
  basis: string,
  now: number,
): VolumeState {
  if (!attempt) return { name, isMounted: false, isDue: true, dueAt: undefined };
  const { isMounted, failure } = attempt;
  const dueAt = failure ? failure.retryAt : attempt.renewAt;
  const isDue = attempt.basis !== basis || (dueAt !== undefined && dueAt <= now);
  return { name, isMounted, isDue, dueAt: isDue ? undefined : dueAt };
}

/** Maximum wait; it limits the delay after the machine was suspended or its clock was changed. */
const maxWaitMs = 60_000;

export interface VolumesPlan {
  /** True when the steps of some volumes must run. */
  readonly mount: boolean;
  /** True when containers may start. */
  readonly isReady: boolean;
  /** Milliseconds until a volume becomes due even if nothing changes; undefined for never. */
  readonly wakeIn: number | undefined;
}

export function planVolumes(states: readonly VolumeState[], now: number): VolumesPlan {
  const times = states.flatMap(({ dueAt }) => dueAt ?? []);
  return {
    mount: states.some(({ isDue }) => isDue),
    isReady: states.every(({ isMounted }) => isMounted),
    wakeIn: times.length > 0 ? Math.min(Math.min(...times) - now, maxWaitMs) : undefined,
  };
}
