/** Metrics of the synchronization of service rules, under kube-proxy's names. */
import type { Clock } from '../base/clock.ts';
import { exponentialBounds, type Family, Histogram } from '../base/metrics/exposition.ts';
import { counter, gauge, histogram, single } from '../base/metrics/metric-family.ts';

/** Buckets in seconds, the same as upstream's. */
const syncBounds = exponentialBounds(0.001, 2, 15);
const programmingBounds = [...[0.25, 0.5], ...rising(1, 1, 59), ...rising(60, 5, 12), ...rising(120, 30, 7)];

/** Maximum number of stored change times. They pile up while nft rejects the rules. */
const maxTriggers = 1000;

export type Change = 'endpoint' | 'service';

interface Changes {
  total: number;
  /** Number of changes that are not applied to the rules yet. */
  pending: number;
}

export class ProxyCounts {
  readonly #clock: Clock;
  readonly #syncs = new Histogram(syncBounds);
  readonly #programming = new Histogram(programmingBounds);
  readonly #changes: Readonly<Record<Change, Changes>> = {
    endpoint: { total: 0, pending: 0 },
    service: { total: 0, pending: 0 },
  };
  /** Times of the changes that are not applied to the rules yet, in milliseconds since the epoch. */
  #triggers: number[] = [];
  #failures = 0;
  /** Milliseconds since the epoch; undefined before the first synchronization. */
  #syncedAt: number | undefined;
  #queuedAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts a change. `trigger` is the time of the pod or Service change that caused an endpoint change, in
   * milliseconds since the epoch.
   */
  changed(change: Change, trigger?: number): void {
    const counts = this.#changes[change];
    counts.total++;
    counts.pending++;
    this.#queuedAt = this.#clock.now();
    if (trigger !== undefined && this.#triggers.length < maxTriggers) this.#triggers.push(trigger);
  }

  /** Runs `work`, which synchronizes the rules, and measures it. Rejects with the error of `work`. */
  async sync(work: () => Promise<void>): Promise<void> {
    const { endpoint, service } = this.#changes;
    const pending = { endpoint: endpoint.pending, service: service.pending };
    const from = this.#clock.monotonic();
    const applying = this.#triggers;
    this.#triggers = [];
    try {
      await work();
      this.#syncedAt = this.#clock.now();
      endpoint.pending -= pending.endpoint;
      service.pending -= pending.service;
      for (const trigger of applying) this.#programming.observe(Math.max(0, this.#syncedAt - trigger) / 1000);
    } catch (error) {
      this.#failures++;
      this.#triggers = [...applying, ...this.#triggers].slice(0, maxTriggers);
      throw error;
    } finally {
      this.#syncs.observe((this.#clock.monotonic() - from) / 1000);
    }
  }

  families(): readonly Family[] {
    const { endpoint, service } = this.#changes;
    const seconds = (at: number | undefined) => single(at === undefined ? undefined : at / 1000);
    const of = (name: string) => `kubeproxy_sync_proxy_rules_${name}`;
    return [
      histogram(
        of('duration_seconds'),
        'Seconds that a synchronization of the rules took.',
        this.#syncs.samples(),
      ),
      gauge(of('last_timestamp_seconds'), 'When the rules were last synchronized.', seconds(this.#syncedAt)),
      gauge(
        of('last_queued_timestamp_seconds'),
        'When a change of a Service or of endpoints was last received.',
        seconds(this.#queuedAt),
      ),
      histogram(
        'kubeproxy_network_programming_duration_seconds',
        'Seconds from a change of a pod or Service until the rules of this node have it.',
        this.#programming.samples(),
      ),
      counter(of('endpoint_changes_total'), 'Changes of EndpointSlices.', single(endpoint.total)),
      gauge(
        of('endpoint_changes_pending'),
        'Changes that the rules do not have yet.',
        single(endpoint.pending),
      ),
      counter(of('service_changes_total'), 'Changes of Services.', single(service.total)),
      gauge(
        of('service_changes_pending'),
        'Changes that the rules do not have yet.',
        single(service.pending),
      ),
      counter(
        of('nftables_sync_failures_total'),
        'Number of transactions that nft rejected.',
        single(this.#failures),
      ),
    ];
  }
}

function rising(first: number, step: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + step * index);
}
