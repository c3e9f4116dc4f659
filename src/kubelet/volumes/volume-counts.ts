/** Metrics of mounting volumes and of the number of volumes, under upstream's names. */
import type { Clock } from '../../base/clock.ts';
import { Counts, type Family, Histograms } from '../../base/metrics/exposition.ts';
import { counter, gauge, histogram } from '../../base/metrics/metric-family.ts';

/** Bounds in seconds, the same as upstream's. */
const bounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

/** A volume that a pod requires. */
export interface CountedVolume {
  readonly plugin: string;
  readonly isMounted: boolean;
}

export class VolumeCounts {
  readonly #clock: Clock;
  readonly #durations = new Histograms(bounds);
  readonly #errors = new Counts();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Starts measuring a mount. The returned function must be called at its end, with the plugin's name and
   * whether the mount worked.
   */
  start(): (plugin: string, worked: boolean) => void {
    const from = this.#clock.monotonic();
    return (plugin, worked) => {
      const operation = { operation_name: 'volume_mount', volume_plugin: plugin };
      const status = worked ? 'success' : 'fail-unknown';
      const seconds = (this.#clock.monotonic() - from) / 1000;
      this.#durations.observe({ migrated: 'false', status, ...operation }, seconds);
      if (!worked) this.#errors.add(operation);
    };
  }

  families(volumes: readonly CountedVolume[]): readonly Family[] {
    return [
      histogram(
        'storage_operation_duration_seconds',
        'Duration of making a volume in seconds, by outcome.',
        this.#durations.samples(),
      ),
      counter('storage_operation_errors_total', 'Failed operations of volumes.', this.#errors.samples()),
      gauge(
        'volume_manager_total_volumes',
        'Number of volumes, by plugin and state: required by pods, or present.',
        [
          ...inState('desired_state_of_world', volumes),
          ...inState(
            'actual_state_of_world',
            volumes.filter(({ isMounted }) => isMounted),
          ),
        ],
      ),
    ];
  }
}

const inState = (state: string, volumes: readonly CountedVolume[]) =>
  [...Map.groupBy(volumes, ({ plugin }) => plugin)].map(([plugin, all]) => ({
    labels: { plugin_name: plugin, state },
    value: all.length,
  }));
