/**
 * Metrics of the time until all containers of a pod have run: since this node first saw the pod, and since
 * the pod's creation, with and without the time for images and init containers.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { PodStatus } from '../../api/core/v1/types.gen.ts';
import type { Clock } from '../../base/clock.ts';
import { type Family, Histogram } from '../../base/metrics/exposition.ts';
import { histogram } from '../../base/metrics/metric-family.ts';
import { initTime, type Period, together } from './plan/start-time.ts';

/** Bounds in seconds, the same as upstream's. */
const bounds = [
  ...[0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700],
  3600,
];

/** A pod that has not started yet. */
interface Pending {
  /** Monotonic time at which the pod was first seen. */
  readonly seenAt: number;
  readonly pulls: Period[];
}

export class PodStarts {
  readonly #clock: Clock;
  readonly #durations = new Histogram(bounds);
  readonly #total = new Histogram(bounds);
  readonly #own = new Histogram(bounds);
  /** Pods by uid; undefined for one that has started. */
  #pending = new Map<string, Pending | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records a status; must be called each time that one is computed. */
  observe({ metadata: { uid, creationTimestamp } }: Pod, status: PodStatus): void {
    const hasStarted = (status.containerStatuses ?? []).every(({ state }) => state?.waiting === undefined);
    const isStarted = hasStarted && status.phase !== 'Pending';
    if (!this.#pending.has(uid)) {
      // A pod that already runs was started before this agent.
      const pending = { seenAt: this.#clock.monotonic(), pulls: [] };
      this.#pending.set(uid, isStarted ? undefined : pending);
      return;
    }
    const pending = this.#pending.get(uid);
    if (pending === undefined || !isStarted) return;
    this.#pending.set(uid, undefined);
    this.#durations.observe((this.#clock.monotonic() - pending.seenAt) / 1000);
    const created = Date.parse(creationTimestamp);
    // A static pod may have no creation time.
    if (Number.isNaN(created)) return;
    const total = Math.max(0, this.#clock.now() - created);
    const waited = together([...pending.pulls, ...initTime(status)]);
    this.#total.observe(total / 1000);
    this.#own.observe(Math.max(0, total - waited) / 1000);
  }

  /** Records a pull of an image that has ended; must be called for each. Milliseconds since the epoch. */
  pulled(uid: string, period: Period): void {
    this.#pending.get(uid)?.pulls.push(period);
  }

  /** Number of known pods. */
  get size(): number {
    return this.#pending.size;
  }

  /** Removes all other pods. */
  keep(uids: ReadonlySet<string>): void {
    this.#pending = new Map([...this.#pending].filter(([uid]) => uids.has(uid)));
  }

  families(): readonly Family[] {
    return [
      histogram(
        'kubelet_pod_start_duration_seconds',
        'Seconds from when the node first saw a pod until it runs',
        this.#durations.samples(),
      ),
      histogram(
        'kubelet_pod_start_total_duration_seconds',
        'Seconds from when a pod was created until it runs',
        this.#total.samples(),
      ),
      histogram(
        'kubelet_pod_start_sli_duration_seconds',
        'Seconds from when a pod was created until it runs, without the time in which its images were pulled and its init containers ran',
        this.#own.samples(),
      ),
    ];
  }
}
