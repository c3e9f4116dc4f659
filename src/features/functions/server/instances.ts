/** The instances of one function that can take calls, and the number of calls of each. */

import { isPodActive } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { canonicalAddress } from '../../../base/addresses.ts';
import { functionVersionLabel, isInstanceLost } from '../api/function-instance.ts';

export interface Instance {
  readonly pod: Pod;
  /** Number of calls in progress. */
  underWay: number;
  /**
   * Monotonic milliseconds before which the instance is not tried, because it has refused a connection or a
   * call.
   */
  notBefore: number;
  refusals: number;
}

/** First pause in milliseconds: a starting program listens within tens of milliseconds. */
const firstPause = 10;
const maxPause = 500;

/** Returns whether the program of the pod runs, so that it listens or is about to. */
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

  /** Replaces the list of instances; the state of known instances is kept. */
  set(pods: readonly Pod[]): void {
    const uids = new Set(pods.map(({ metadata }) => metadata.uid));
    for (const uid of this.#byUid.keys()) if (!uids.has(uid)) this.#byUid.delete(uid);
    for (const pod of pods) {
      const known = this.#byUid.get(pod.metadata.uid);
      // The address of a pod may change when its sandbox is recreated.
      if (known) this.#byUid.set(pod.metadata.uid, Object.assign(known, { pod }));
      else this.#byUid.set(pod.metadata.uid, { pod, underWay: 0, notBefore: 0, refusals: 0 });
    }
  }

  /** Returns the instance with the fewest calls that has room for one more; undefined if there is none. */
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

  /** Number of instances with calls. */
  get busy(): number {
    return [...this.#byUid.values()].filter(({ underWay }) => underWay > 0).length;
  }

  known(uid: string): Instance | undefined {
    return this.#byUid.get(uid);
  }

  /**
   * Returns the milliseconds until an instance with room may be tried again; undefined if no instance has
   * room.
   */
  next(concurrency: number, now: number): number | undefined {
    const waiting = [...this.#byUid.values()].filter(({ underWay }) => underWay < concurrency);
    return waiting.length === 0
      ? undefined
      : Math.max(0, Math.min(...waiting.map(({ notBefore }) => notBefore)) - now);
  }
}

/** Delays further calls to an instance that has refused a connection, or a call before it was made. */
export function refused(instance: Instance, now: number): void {
  instance.notBefore = now + Math.min(maxPause, firstPause * 1.5 ** Math.min(instance.refusals, 16));
  instance.refusals += 1;
}
