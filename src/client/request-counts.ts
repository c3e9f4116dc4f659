/**
 * Metrics of a client's requests to API servers: count by result, and duration, under the names of upstream's
 * clients.
 */
import type { Clock } from '../base/clock.ts';
import { Counts, type Family, Histograms } from '../base/metrics/exposition.ts';
import { counter, histogram } from '../base/metrics/metric-family.ts';
import type { Transport } from './transport.ts';

/** Bucket bounds in seconds, as upstream. */
const bounds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

export class RequestCounts {
  readonly #clock: Clock;
  readonly #requests = new Counts();
  readonly #durations = new Histograms(bounds);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the transport with metrics: a request's duration lasts until its response begins. `close` closes
   * the wrapped transport.
   */
  measure(transport: Transport): Transport {
    return {
      request: async (request) => {
        const { method } = request;
        const from = this.#clock.monotonic();
        let code = '<error>';
        try {
          const response = await transport.request(request);
          code = String(response.status);
          return response;
        } finally {
          const host = transport.host ?? '';
          this.#requests.add({ code, host, method });
          this.#durations.observe({ host, verb: method }, (this.#clock.monotonic() - from) / 1000);
        }
      },
      close: () => transport.close(),
    };
  }

  families(): readonly Family[] {
    return [
      counter(
        'rest_client_requests_total',
        'Requests to API servers, by code, method and server.',
        this.#requests.samples(),
      ),
      histogram(
        'rest_client_request_duration_seconds',
        'Seconds until the answer of an API server began, by method and server.',
        this.#durations.samples(),
      ),
    ];
  }
}
