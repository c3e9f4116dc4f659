/** Metrics of requests to the agent's server, under upstream's names. */
import type { Clock } from '../../base/clock.ts';
import { Counts, type Family, Histograms, type Labels, usualBounds } from '../../base/metrics/exposition.ts';
import { counter, gauge, histogram } from '../../base/metrics/metric-family.ts';
import { requestKind } from './plan/request-kind.ts';

export class ServerCounts {
  readonly #clock: Clock;
  readonly #requests = new Counts();
  readonly #durations = new Histograms(usualBounds);
  readonly #inFlight = new Map<string, { readonly labels: Labels; value: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a request, which lasts until the returned function is called; further calls have no effect. */
  begin(method: string, path: string): () => void {
    const labels = { ...requestKind(method, path), server_type: 'readwrite' };
    const from = this.#clock.monotonic();
    this.#requests.add(labels);
    const flight = this.#inFlight.getOrInsertComputed(JSON.stringify(labels), () => ({ labels, value: 0 }));
    flight.value++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      flight.value--;
      this.#durations.observe(labels, (this.#clock.monotonic() - from) / 1000);
    };
  }

  families(): readonly Family[] {
    return [
      counter(
        'kubelet_http_requests_total',
        'Requests to the server of this agent.',
        this.#requests.samples(),
      ),
      histogram(
        'kubelet_http_requests_duration_seconds',
        'Seconds that a request to the server of this agent took, with its answer.',
        this.#durations.samples(),
      ),
      gauge('kubelet_http_inflight_requests', 'Requests to the server of this agent that are in progress.', [
        ...this.#inFlight.values(),
      ]),
    ];
  }
}
