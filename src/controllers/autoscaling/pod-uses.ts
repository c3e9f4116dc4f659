/** Usage of all pods, requested once for all autoscalers that are synced together. */
import { type PodMetrics, podMetricsResource } from '../../api/metrics/v1beta1/pod-metrics.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';

type Known = ReadonlyMap<string, PodMetrics> | string;

const freshMs = 1_000;

export class PodUses {
  readonly #client: Client;
  readonly #clock: Clock;
  #last: { readonly at: number; readonly known: Promise<Known> } | undefined;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Returns the usage by `namespace/name`; a text is the reason why it is unavailable. */
  all(): Promise<Known> {
    const now = this.#clock.monotonic();
    if (!this.#last || now - this.#last.at >= freshMs) this.#last = { at: now, known: this.#request() };
    return this.#last.known;
  }

  async #request(): Promise<Known> {
    try {
      const { items } = await this.#client.resource(podMetricsResource).list();
      return new Map(items.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one]));
    } catch (error) {
      return errorMessage(error);
    }
  }
}
