/**
 * Metrics of work queues under client-go's names (util/workqueue/metrics.go): adds, waiting time, work time
 * and long-running work.
 */
import { exponentialBounds, type Family, type Sample } from '../base/metrics/exposition.ts';
import { Counter, Gauge, Histogram } from '../base/metrics/instruments.ts';
import type { Registry } from '../base/metrics/registry.ts';

/** State of a queue, read when the metrics page is read. Times are in seconds. */
export interface QueueState {
  readonly depth: number;
  /** Sum over all keys that are being worked on. */
  readonly unfinished: number;
  readonly longest: number;
}

/** Callbacks of a queue. Times are in seconds. */
export interface QueueObserver {
  added(): void;
  taken(waited: number): void;
  done(took: number): void;
  retried(): void;
}

export const unobserved: QueueObserver = {
  added() {},
  taken() {},
  done() {},
  retried() {},
};

const labels = ['name'] as const;
const bounds = exponentialBounds(1e-8, 10, 10);

export class QueueMetrics {
  readonly #adds: Counter<typeof labels>;
  readonly #retries: Counter<typeof labels>;
  readonly #waited: Histogram<typeof labels>;
  readonly #worked: Histogram<typeof labels>;
  readonly #states = new Map<string, () => QueueState>();

  constructor(registry: Registry) {
    const counter = (name: string, help: string) => registry.add(new Counter({ name, help, labels }));
    const histogram = (name: string, help: string) =>
      registry.add(new Histogram({ name, help, labels, bounds }));
    this.#adds = counter('workqueue_adds_total', 'Keys that were added to the queue.');
    this.#retries = counter('workqueue_retries_total', 'Keys that were added again after a failure.');
    this.#waited = histogram(
      'workqueue_queue_duration_seconds',
      'Seconds that a key waited to be worked on.',
    );
    this.#worked = histogram('workqueue_work_duration_seconds', 'Seconds that the work on a key took.');
    registry.collect(() => this.#families());
  }

  /** Registers the queue of a controller. A later queue of the same name replaces the earlier one. */
  observe(name: string, state: () => QueueState): QueueObserver {
    this.#states.set(name, state);
    const [adds, retries] = [this.#adds.with(name), this.#retries.with(name)];
    const [waited, worked] = [this.#waited.with(name), this.#worked.with(name)];
    return {
      added: () => adds.add(),
      retried: () => retries.add(),
      taken: (seconds) => waited.observe(seconds),
      done: (seconds) => worked.observe(seconds),
    };
  }

  #families(): Family[] {
    const states = [...this.#states].map(([name, state]) => ({ name, ...state() }));
    const family = (name: string, help: string, of: (state: QueueState) => number): Family => ({
      ...{ name: `workqueue_${name}`, help, type: 'gauge' },
      samples: states.map((state): Sample => ({ labels: { name: state.name }, value: of(state) })),
    });
    return [
      family('depth', 'Keys that wait in the queue.', ({ depth }) => depth),
      family(
        'unfinished_work_seconds',
        'Seconds that the work under way has taken so far, together.',
        ({ unfinished }) => unfinished,
      ),
      family(
        'longest_running_processor_seconds',
        'Seconds that the longest work under way has taken so far.',
        ({ longest }) => longest,
      ),
    ];
  }
}

/**
 * Gauge of whether this process leads, by the name of the lease (client-go tools/leaderelection/metrics.go).
 */
export class LeaderMetrics {
  readonly #status: Gauge<readonly ['name']>;

  constructor(registry: Registry) {
    this.#status = registry.add(
      new Gauge({
        name: 'leader_election_master_status',
        help: '1 if this process is the leader, otherwise 0.',
        labels: ['name'] as const,
      }),
    );
  }

  leads(lease: string, isLeader: boolean): void {
    this.#status.with(lease).set(isLeader ? 1 : 0);
  }
}
