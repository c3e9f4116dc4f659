/** The pods for which this scheduler must find a node. */

import { isPodTerminal } from '../api/core/v1/pod/conditions.ts';
import type { Pod } from '../api/core/v1/pod/pod.ts';
import type { ObjectKey } from '../apimachinery/meta.ts';
import type { Lister } from '../client/informer.ts';
import type { PendingPods } from './scheduler-metrics.ts';
import type { Snapshot } from './snapshot.ts';
import type { WaitingPods } from './waiting-pods.ts';

export interface WantedPodsOptions {
  readonly pods: Lister<Pod>;
  readonly snapshot: Pick<Snapshot, 'isPlaced'>;
  /** Pods that wait for an event; those that need no node any more are removed from it. */
  readonly waiting: WaitingPods;
  /** Name of this scheduler; pods with another schedulerName are ignored. */
  readonly schedulerName: string;
}

export class WantedPods {
  readonly #options: WantedPodsOptions;

  constructor(options: WantedPodsOptions) {
    this.#options = options;
  }

  needsNode(pod: Pod): boolean {
    const { snapshot, schedulerName } = this.#options;
    return (
      !snapshot.isPlaced(pod.metadata.uid) &&
      pod.spec.schedulerName === schedulerName &&
      !pod.metadata.deletionTimestamp &&
      !pod.spec.schedulingGates?.length &&
      !isPodTerminal(pod)
    );
  }

  /** Returns the pod, or undefined if it is gone or has a node. */
  pending(key: ObjectKey): Pod | undefined {
    const { pods, waiting } = this.#options;
    const pod = pods.get(key);
    if (pod && this.needsNode(pod)) return pod;
    waiting.delete(key);
    return undefined;
  }

  /** Returns the number of pods without a node, by what they wait for, at the monotonic time `now`. */
  counts(now: number): PendingPods {
    const { pods, waiting, schedulerName } = this.#options;
    const { backoff, unschedulable } = waiting.counts(now);
    let [pendingCount, gated] = [0, 0];
    for (const pod of pods.list()) {
      if (pod.spec.nodeName || pod.spec.schedulerName !== schedulerName || isPodTerminal(pod)) continue;
      if (pod.spec.schedulingGates?.length) gated++;
      else pendingCount++;
    }
    return { active: Math.max(0, pendingCount - backoff - unschedulable), backoff, unschedulable, gated };
  }
}
