/** How long pods take from when this node first knew of them until all of their containers have run. */
import type { Pod } from '../../api/core/v1/pod.ts';
import type { PodStatus } from '../../api/core/v1/types.gen.ts';
import type { Clock } from '../../base/clock.ts';
import { type Family, Histogram } from '../../base/exposition.ts';

/** Seconds, as upstream's. */
const bounds = [
  ...[0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700],
  3600,
];

export class PodStarts {
  readonly #clock: Clock;
  readonly #durations = new Histogram(bounds);
  /** When pods that have not started yet were seen first; undefined once they have. By uid. */
  #pending = new Map<string, number | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be told of each status that is computed. */
  observe({ metadata: { uid } }: Pod, status: PodStatus): void {
    const hasStarted = (status.containerStatuses ?? []).every(({ state }) => state?.waiting === undefined);
    const isStarted = hasStarted && status.phase !== 'Pending';
    if (!this.#pending.has(uid)) {
      // One that runs already was started before this agent was.
      this.#pending.set(uid, isStarted ? undefined : this.#clock.monotonic());
      return;
    }
    const from = this.#pending.get(uid);
    if (from === undefined || !isStarted) return;
    this.#pending.set(uid, undefined);
    this.#durations.observe((this.#clock.monotonic() - from) / 1000);
  }

  /** Pods that are known. */
  get size(): number {
    return this.#pending.size;
  }

  /** Forgets all others. */
  keep(uids: ReadonlySet<string>): void {
    this.#pending = new Map([...this.#pending].filter(([uid]) => uids.has(uid)));
  }

  families(): readonly Family[] {
    return [
      {
        name: 'kubelet_pod_start_duration_seconds',
        help: 'Seconds from when the node first saw a pod until it runs',
        type: 'histogram',
        samples: this.#durations.samples(),
      },
    ];
  }
}
