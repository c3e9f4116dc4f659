/**
 * Health check ports of Services: a load balancer in front asks each node whether it has pods of the Service
 * (upstream: pkg/proxy/healthcheck/service_health.go, whose answer has the same fields).
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { needsHealthCheck } from '../api/core/v1/service/defaults.ts';
import type { Service } from '../api/core/v1/service/service.ts';
import type { EndpointSlice } from '../api/discovery/v1/endpoint-slice.ts';
import { type ObjectKey, objectKey } from '../apimachinery/meta.ts';

export interface HealthPortsOptions {
  /** Address to listen at; all of the machine without one. */
  readonly address: string | undefined;
  /** Called when a port cannot be listened on, once until it can; each `set` of the Service tries again. */
  readonly onError: (service: Service, port: number, error: unknown) => void;
}

interface Listening {
  readonly port: number;
  readonly server: Server;
  answer: Answer;
}

interface Answer {
  readonly service: Service;
  readonly localEndpoints: number;
}

/** Milliseconds for a request; a caller that sends nothing holds its connection no longer. */
const requestMs = 5000;
const maxConnections = 100;

/**
 * Returns the number of ready endpoints of the slices on a node. A pod with addresses of two families counts
 * once.
 */
export function localEndpoints(slices: readonly EndpointSlice[], nodeName: string): number {
  const families = Map.groupBy(slices, ({ addressType }) => addressType);
  return Math.max(0, ...[...families.values()].map((some) => readyAddresses(some, nodeName).size));
}

const readyAddresses = (slices: readonly EndpointSlice[], nodeName: string): ReadonlySet<string> =>
  new Set(
    slices.flatMap(({ endpoints }) =>
      endpoints.flatMap(({ addresses, nodeName: on, conditions }) =>
        on === nodeName && conditions?.ready !== false ? addresses.slice(0, 1) : [],
      ),
    ),
  );

/** Returns the health check port of a Service; undefined if it has none. */
export const healthPortOf = ({ spec }: Service): number | undefined =>
  needsHealthCheck(spec) && spec.healthCheckNodePort ? spec.healthCheckNodePort : undefined;

export class HealthPorts {
  readonly #options: HealthPortsOptions;
  readonly #listening = new Map<ObjectKey, Listening>();
  /** Services whose port could not be listened on. */
  readonly #failed = new Set<ObjectKey>();

  constructor(options: HealthPortsOptions) {
    this.#options = options;
  }

  /** True if any Service has a health check port. */
  get isUsed(): boolean {
    return this.#listening.size + this.#failed.size > 0;
  }

  /** Keys of the Services whose port could not be opened and is tried again. */
  get failed(): readonly ObjectKey[] {
    return [...this.#failed];
  }

  /** Sets the answer about a Service, or undefined for one that is gone or has no port. */
  set(key: ObjectKey, answer: Answer | undefined): void {
    const port = answer && healthPortOf(answer.service);
    const before = this.#listening.get(key);
    if (port === undefined) this.#failed.delete(key);
    if (before && before.port === port && answer) {
      before.answer = answer;
      return;
    }
    if (before) this.#close(key, before);
    if (answer && port !== undefined) this.#open(key, port, answer);
  }

  close(): void {
    for (const [key, one] of this.#listening) this.#close(key, one);
    this.#failed.clear();
  }

  #open(key: ObjectKey, port: number, answer: Answer): void {
    const server = createServer({ requestTimeout: requestMs, headersTimeout: requestMs }, (_, response) =>
      respond(response, one.answer),
    );
    const one: Listening = { port, server, answer };
    server.maxConnections = maxConnections;
    server.on('error', (error) => {
      if (this.#listening.get(key) !== one) return;
      this.#listening.delete(key);
      const isNew = !this.#failed.has(key);
      this.#failed.add(key);
      if (isNew) this.#options.onError(one.answer.service, port, error);
    });
    server.on('listening', () => this.#failed.delete(key));
    this.#listening.set(key, one);
    server.listen({ port, ...(this.#options.address !== undefined && { host: this.#options.address }) });
  }

  #close(key: ObjectKey, { server }: Listening): void {
    this.#listening.delete(key);
    server.close();
    server.closeAllConnections();
  }
}

function respond(response: ServerResponse, { service, localEndpoints: count }: Answer): void {
  const [namespace, name] = objectKey(service).split('/');
  const body = { service: { namespace, name }, localEndpoints: count, serviceProxyHealthy: true };
  response.writeHead(count > 0 ? 200 : 503, {
    'Content-Type': 'application/json',
    'X-Content-Type-Options': 'nosniff',
    'X-Load-Balancing-Endpoint-Weight': String(count),
  });
  response.end(`${JSON.stringify(body)}\n`);
}
