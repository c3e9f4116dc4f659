/** Metrics of relists: their duration and their interval, under upstream's names. */
import type { Clock } from '../../base/clock.ts';
import { type Family, Histogram, usualBounds } from '../../base/metrics/exposition.ts';
import { gauge, histogram, single } from '../../base/metrics/metric-family.ts';

export class RelistCounts {
  readonly #clock: Clock;
  readonly #durations = new Histogram(usualBounds);
  readonly #intervals = new Histogram(usualBounds);
  /** Start of the last relist, by the monotonic clock. */
  #lastAt: number | undefined;
  /** Time of the last successful relist, in milliseconds since the epoch. */
  #seenAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Measures `relist`; resolves and rejects as `relist` does. */
  async time<T>(relist: () => Promise<T>): Promise<T> {
    const from = this.#clock.monotonic();
    if (this.#lastAt !== undefined) this.#intervals.observe((from - this.#lastAt) / 1000);
    this.#lastAt = from;
    try {
      const result = await relist();
      this.#seenAt = this.#clock.now();
      return result;
    } finally {
      this.#durations.observe((this.#clock.monotonic() - from) / 1000);
    }
  }

  families(): readonly Family[] {
    return [
      histogram(
        'kubelet_pleg_relist_duration_seconds',
        'Seconds that comparing all containers with the engine took.',
        this.#durations.samples(),
      ),
      histogram(
        'kubelet_pleg_relist_interval_seconds',
        'Seconds between two comparisons of all containers with the engine.',
        this.#intervals.samples(),
      ),
      gauge(
        'kubelet_pleg_last_seen_seconds',
        'Time of the last successful comparison of all containers with the engine.',
        single(this.#seenAt === undefined ? undefined : this.#seenAt / 1000),
      ),
    ];
  }
}
