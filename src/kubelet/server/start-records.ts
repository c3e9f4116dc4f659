/** Records of pods' starts; the records of pods that have gone are removed. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { PodStatus } from '../../api/core/v1/types.gen.ts';
import type { Clock } from '../../base/clock.ts';
import type { Family } from '../../base/metrics/exposition.ts';
import type { Period } from './plan/start-time.ts';
import { PodStarts } from './pod-starts.ts';

/** Minimum of start records before those of gone pods are removed. */
const atLeastKept = 256;

export class StartRecords {
  readonly #starts: PodStarts;
  readonly #pods: () => readonly Pod[];

  /** `pods` returns the pods of this node. */
  constructor(clock: Clock, pods: () => readonly Pod[]) {
    this.#starts = new PodStarts(clock);
    this.#pods = pods;
  }

  /** Records a status; must be called each time that one is computed. */
  observe(pod: Pod, status: PodStatus): void {
    this.#starts.observe(pod, status);
    const pods = this.#pods();
    if (this.#starts.size > 2 * pods.length + atLeastKept) this.#forgetOthers(pods);
  }

  /** Records a pull of an image that has ended; must be called for each. Milliseconds since the epoch. */
  pulled(uid: string, period: Period): void {
    this.#starts.pulled(uid, period);
  }

  /** Returns the metrics, after the removal of pods that have gone. */
  families(): readonly Family[] {
    this.#forgetOthers(this.#pods());
    return this.#starts.families();
  }

  #forgetOthers(pods: readonly Pod[]): void {
    this.#starts.keep(new Set(pods.map(({ metadata }) => metadata.uid)));
  }
}
