/**
 * Queries Prometheus for the metrics of one autoscaler, one after another. Skips the queries for a while
 * after Prometheus has not answered.
 */
import type { HorizontalPodAutoscaler } from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { isOutside, type MetricQueries, podsMatcher, queryOf, usualQueries } from './metric-query-plan.ts';
import { maxMetrics } from './metrics-plan.ts';
import type { Reading } from './proposal-plan.ts';
import type { Series } from './readings-plan.ts';
import { MetricFailure } from './replicas-plan.ts';

/** Source of metrics of pods, of objects and from outside. */
export interface MetricSource {
  /**
   * Rejects with SourceSilent if there is no answer, and with another Error if the answer states an error.
   */
  readonly ask: (query: string) => Promise<readonly Series[]>;
  readonly queries: MetricQueries;
}

/** The source does not answer any query. */
export class SourceSilent extends Error {
  override readonly name = 'SourceSilent';
}

/** Milliseconds without queries after one was not answered, because each query may take its whole timeout. */
const silenceMs = 5_000;
/** Timeout in milliseconds for all metrics of one autoscaler. */
const maxMs = 10_000;

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

  /** Returns the reading of each outside metric, keyed by the index of the metric. */
  async read(
    { spec, metadata: { namespace = '' } }: HorizontalPodAutoscaler,
    pods: readonly Pod[],
    singularOf: (kind: string) => string,
  ): Promise<ReadonlyMap<number, Reading>> {
    const readings = new Map<number, Reading>();
    const end = this.#clock.monotonic() + maxMs;
    const queries = this.#source?.queries ?? usualQueries;
    const queryContext = { namespace, pods: podsMatcher(pods, queries), singularOf };
    for (const [index, metric] of (spec.metrics ?? []).slice(0, maxMetrics).entries()) {
      if (!isOutside(metric)) continue;
      const isLate = this.#clock.monotonic() >= end;
      const why = isLate ? `the metrics before it took ${maxMs / 1000} s` : this.#silence();
      readings.set(index, why ?? (await this.#read(() => queryOf(metric, queryContext, queries))));
    }
    return readings;
  }

  /** Returns the reason why no query is sent now, or undefined if queries may be sent. */
  #silence(): string | undefined {
    if (!this.#source) return notConfigured;
    return this.#silent && this.#clock.monotonic() < this.#silent.until ? this.#silent.why : undefined;
  }

  async #read(write: () => string): Promise<Reading> {
    try {
      return await this.#query(write());
    } catch (error) {
      if (error instanceof MetricFailure) return error.message;
      throw error;
    }
  }

  async #query(query: string): Promise<Reading> {
    try {
      return (await this.#source?.ask(query)) ?? notConfigured;
    } catch (error) {
      const why = errorMessage(error);
      if (error instanceof SourceSilent) this.#silent = { until: this.#clock.monotonic() + silenceMs, why };
      return why;
    }
  }
}
