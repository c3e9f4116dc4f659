/** The instances of one function that calls can be given to, and how many each has. */
import type { Pod } from '../../api/core/v1/pod.ts';
import { isPodActive } from '../../api/core/v1/pod-conditions.ts';
import { functionVersionLabel, isInstanceLost } from '../../api/minik8s/v1/function-instance.ts';
import { canonicalAddress } from '../../base/addresses.ts';

export interface Instance {
  readonly pod: Pod;
  /** Calls that it has. */
  underWay: number;
  /** Monotonic milliseconds before which it is not tried: it has refused a connection, or a call. */
  notBefore: number;
  refusals: number;
}

/** Milliseconds: a program that is just starting listens within tens of them. */
const firstPause = 10;
const longestPause = 500;

/** Whether its program runs, so that it listens or is about to. */
export function isCallable(pod: Pod, version: string | undefined): boolean {
  const running = pod.status?.containerStatuses?.some(({ state }) => state?.running);
  const isOfVersion = pod.metadata.labels?.[functionVersionLabel] === version;
  return (
    isOfVersion &&
    isPodActive(pod) &&
    running === true &&
    !isInstanceLost(pod) &&
    canonicalAddress(pod.status?.podIP ?? '') !== undefined
  );
}

export class Instances {
  readonly #byUid = new Map<string, Instance>();

  /** Those that are there now; what was known of one stays known. */
  set(pods: readonly Pod[]): void {
    const uids = new Set(pods.map(({ metadata }) => metadata.uid));
    for (const uid of this.#byUid.keys()) if (!uids.has(uid)) this.#byUid.delete(uid);
    for (const pod of pods) {
      const known = this.#byUid.get(pod.metadata.uid);
      // Its address may be another one after its sandbox was made anew.
      if (known) this.#byUid.set(pod.metadata.uid, Object.assign(known, { pod }));
      else this.#byUid.set(pod.metadata.uid, { pod, underWay: 0, notBefore: 0, refusals: 0 });
    }
  }

  /** The one with the fewest calls that has room for one more; undefined when there is none. */
  choose(concurrency: number, now: number): Instance | undefined {
    let best: Instance | undefined;
    for (const one of this.#byUid.values()) {
      const isFree = one.underWay < concurrency && one.notBefore <= now;
      if (isFree && (!best || one.underWay < best.underWay)) best = one;
    }
    return best;
  }

  get size(): number {
    return this.#byUid.size;
  }

  /** Those that have calls. */
  get busy(): number {
    return [...this.#byUid.values()].filter(({ underWay }) => underWay > 0).length;
  }

  known(uid: string): Instance | undefined {
    return this.#byUid.get(uid);
  }

  /** Milliseconds until one that has room may be tried again; undefined when none is waited for. */
  next(concurrency: number, now: number): number | undefined {
    const waiting = [...this.#byUid.values()].filter(({ underWay }) => underWay < concurrency);
    return waiting.length === 0
      ? undefined
      : Math.max(0, Math.min(...waiting.map(({ notBefore }) => notBefore)) - now);
  }
}

/** It has refused a connection, or a call before it was made. */
export function refused(instance: Instance, now: number): void {
  instance.notBefore = now + Math.min(longestPause, firstPause * 1.5 ** Math.min(instance.refusals, 16));
  instance.refusals += 1;
}
