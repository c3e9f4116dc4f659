/** The PodCertificateRequests of this node, as the API server has them. */
import {
  type PodCertificateRequest,
  podCertificateRequestResource as resource,
} from '../../api/certificates/v1/pod-certificate-request.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import { type ObjectEvent, type ReflectorSink, runReflector } from '../../client/reflector.ts';

export interface CertificateRequestWatchOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly nodeName: string;
}

export class CertificateRequestWatch implements ReflectorSink<PodCertificateRequest> {
  readonly #stop = new AbortController();
  readonly #requests = new Map<string, PodCertificateRequest>();
  readonly #onChange: () => void;

  /** Begins to watch. `onChange` is called after each change. */
  constructor(options: CertificateRequestWatchOptions, onChange: () => void) {
    this.#onChange = onChange;
    const { client, clock, random, log, nodeName } = options;
    const scope = { fieldSelector: `spec.nodeName=${nodeName}` };
    const named = log.named(`source/${resource.plural}`);
    const parts = { resource: client.resource(resource), scope, clock, random, log: named };
    void runReflector({ ...parts, sink: this, newest: true }, this.#stop.signal);
  }

  get(namespace: string, name: string): PodCertificateRequest | undefined {
    return this.#requests.get(`${namespace}/${name}`);
  }

  stop(): void {
    this.#stop.abort();
  }

  replace(found: readonly PodCertificateRequest[]): void {
    this.#requests.clear();
    for (const request of found) this.#requests.set(keyOf(request), request);
    this.#onChange();
  }

  apply({ type, object }: ObjectEvent<PodCertificateRequest>): void {
    if (type === 'DELETED') this.#requests.delete(keyOf(object));
    else this.#requests.set(keyOf(object), object);
    this.#onChange();
  }
}

const keyOf = ({ metadata: { namespace, name } }: PodCertificateRequest) => `${namespace}/${name}`;
