/** A pod's volumes as they are on this machine, and what that means for the pod. */
import { backoffMs } from '../../../base/backoff.ts';

/** One volume, as far as this run of the agent knows it. */
export interface VolumeState {
  readonly name: string;
  /** Containers can have it. */
  readonly isMounted: boolean;
  /** Its steps are to be done now: it is not there, or not what it should be. */
  readonly isDue: boolean;
  /** When time alone makes it due, in milliseconds since the epoch. */
  readonly dueAt: number | undefined;
}

/** What was done for a volume last, and what came of it. Times in milliseconds since the epoch. */
export interface VolumeAttempt {
  /** What it was made from. */
  readonly basis: string;
  readonly isMounted: boolean;
  /** Of what it holds, such as a token. */
  readonly renewAt: number | undefined;
  readonly failure: VolumeFailure | undefined;
}

export interface VolumeFailure {
  /** In a row, at least 1. */
  readonly count: number;
  readonly retryAt: number;
}

/** upstream: util/goroutinemap/exponentialbackoff; what a volume needs is often there a moment later. */
const backoff = { initialMs: 500, maxMs: 122_000 };

/** `now`: milliseconds since the epoch. A failure counts up while what the volume is made from stays the same. */
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

/** `basis`: what it would be made from now. */
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

/** A machine that slept, or whose clock was set, notices then. */
const longestWaitMs = 60_000;

export interface VolumesPlan {
  /** The steps of some are to be done. */
  readonly mount: boolean;
  /** Containers may start. */
  readonly isReady: boolean;
  /** Milliseconds until time alone makes one due. */
  readonly wakeIn: number | undefined;
}

export function planVolumes(states: readonly VolumeState[], now: number): VolumesPlan {
  const times = states.flatMap(({ dueAt }) => dueAt ?? []);
  return {
    mount: states.some(({ isDue }) => isDue),
    isReady: states.every(({ isMounted }) => isMounted),
    wakeIn: times.length > 0 ? Math.min(Math.min(...times) - now, longestWaitMs) : undefined,
  };
}
