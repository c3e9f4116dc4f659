/** Metrics of queries to other servers and their answers, under the names of CoreDNS' forward plugin. */
import { Counts, exponentialBounds, type Family, Histograms } from '../base/metrics/exposition.ts';
import { counter, histogram } from '../base/metrics/metric-family.ts';
import type { Rcode } from './packet.ts';

/** Bounds in seconds, the same as CoreDNS'. */
const bounds = exponentialBounds(0.000_25, 2, 16);

export class ForwardCounts {
  readonly #requests = new Counts();
  readonly #responses = new Counts();
  readonly #durations = new Histograms(bounds);
  #rejected = 0;

  /** Counts a query; `to` is ADDRESS:PORT. */
  asked(to: string): void {
    this.#requests.add({ to });
  }

  answered(to: string, rcode: Rcode, seconds: number): void {
    const labels = { to, rcode };
    this.#responses.add(labels);
    this.#durations.observe(labels, seconds);
  }

  /** Counts a query that was rejected because too many were in progress. */
  rejected(): void {
    this.#rejected++;
  }

  /**
   * Returns the metrics. Durations have two names: CoreDNS introduced the second one, and dashboards for both
   * are in use.
   */
  families(): readonly Family[] {
    const help = 'Seconds until another server answered, by server and code.';
    const durations = this.#durations.samples();
    return [
      counter(
        'coredns_forward_requests_total',
        'Questions that were sent to other servers.',
        this.#requests.samples(),
      ),
      counter(
        'coredns_forward_responses_total',
        'Answers of other servers by code.',
        this.#responses.samples(),
      ),
      histogram('coredns_forward_request_duration_seconds', help, durations),
      histogram(
        'coredns_proxy_request_duration_seconds',
        help,
        durations.map((sample) => ({ ...sample, labels: { proxy_name: 'forward', ...sample.labels } })),
      ),
      counter(
        'coredns_forward_max_concurrent_rejects_total',
        'Questions that were refused because too many were in progress.',
        [{ value: this.#rejected }],
      ),
    ];
  }
}
