/**
 * The pods of this node, as seen by their workers. The list is made before every part that reads it, also
 * before the parts that the workers need; PodWorkers is its only writer.
 */

import { isPodTerminal } from '../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { PodWorker } from './pod-worker.ts';

export class LocalPods {
  /** Workers by the uid of their pod. */
  readonly workers = new Map<string, PodWorker>();

  /** Returns the pods that are assigned to this node, each with its newest status on this node. */
  list(): readonly Pod[] {
    return [...this.workers.values()].flatMap(({ pod }) => pod ?? []);
  }

  /** Returns the same pods with their allocated resources. */
  allocated(): readonly Pod[] {
    return [...this.workers.values()].flatMap(({ allocated }) => allocated ?? []);
  }

  /** Returns true when the pod has not ended, according to the status on this node. */
  isActive(uid: string): boolean {
    const pod = this.workers.get(uid)?.pod;
    return pod !== undefined && !isPodTerminal(pod);
  }

  /** Wakes the pods whose resize is deferred: there may be room for them now. */
  wakeDeferred(): void {
    for (const worker of this.workers.values()) if (worker.isDeferred) worker.wake();
  }
}
