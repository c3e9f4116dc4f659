/** Asks Prometheus for the metrics of an autoscaler: once for each of them, a few at a time, and not when it has just been silent. */
import type { HorizontalPodAutoscaler } from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { isOutside, type MetricQueries, podsMatcher, queryOf, usualQueries } from './metric-query-plan.ts';
import { mostMetrics } from './metrics-plan.ts';
import type { Reading } from './proposal-plan.ts';
import type { Series } from './readings-plan.ts';
import { MetricFailure } from './replicas-plan.ts';

/** Where metrics of pods, of objects and from outside come from. */
export interface MetricSource {
  /** Rejects with SourceSilent when nothing answered, and with another Error when the answer says why not. */
  readonly ask: (query: string) => Promise<readonly Series[]>;
  readonly queries: MetricQueries;
}

/** The source itself does not answer, whatever is asked. */
export class SourceSilent extends Error {
  override readonly name = 'SourceSilent';
}

/** Who has not answered is not asked again so soon: each question may take its whole time. */
const silenceMs = 5_000;
/** For all metrics of one autoscaler. */
const longestMs = 10_000;

const notConfigured =
  'no source of such metrics is configured: start the control plane with --prometheus-url';

export class OutsideMetrics {
  readonly #source: MetricSource | undefined;
  readonly #clock: Clock;
  #silent: { readonly until: number; readonly why: string } | undefined;

  constructor(source: MetricSource | undefined, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  get podLabel(): string {
    return (this.#source?.queries ?? usualQueries).labels.pod;
  }

  /** By the place of each metric that is asked for here. */
  async read(
    { spec, metadata: { namespace = '' } }: HorizontalPodAutoscaler,
    pods: readonly Pod[],
    singularOf: (kind: string) => string,
  ): Promise<ReadonlyMap<number, Reading>> {
    const readings = new Map<number, Reading>();
    const end = this.#clock.monotonic() + longestMs;
    const queries = this.#source?.queries ?? usualQueries;
    const asking = { namespace, pods: podsMatcher(pods, queries), singularOf };
    for (const [index, metric] of (spec.metrics ?? []).slice(0, mostMetrics).entries()) {
      if (!isOutside(metric)) continue;
      const isLate = this.#clock.monotonic() >= end;
      const why = isLate ? `the metrics before it took ${longestMs / 1000} s` : this.#silence();
      readings.set(index, why ?? (await this.#read(() => queryOf(metric, asking, queries))));
    }
    return readings;
  }

  /** Why nobody is asked now; undefined when somebody can be. */
  #silence(): string | undefined {
    if (!this.#source) return notConfigured;
    return this.#silent && this.#clock.monotonic() < this.#silent.until ? this.#silent.why : undefined;
  }

  async #read(write: () => string): Promise<Reading> {
    try {
      return await this.#ask(write());
    } catch (error) {
      if (error instanceof MetricFailure) return error.message;
      throw error;
    }
  }

  async #ask(query: string): Promise<Reading> {
    try {
      return (await this.#source?.ask(query)) ?? notConfigured;
    } catch (error) {
      const why = errorMessage(error);
      if (error instanceof SourceSilent) this.#silent = { until: this.#clock.monotonic() + silenceMs, why };
      return why;
    }
  }
}
