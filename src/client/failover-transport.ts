/**
 * A transport to several equivalent API servers: one is used until it does not respond, then the next. A
 * request moves to the next server only when no part of it can have reached the last one, or when it is a
 * read. For a write that the server may have received, the caller gets the error. Any response of a server,
 * including an error, is final.
 *
 * A server that is cut off sends nothing at all. Therefore a request that waits for long triggers a health
 * check of the server over a separate connection. When the health check fails, all connections to the server
 * are closed; their watches continue on another server.
 */

import type { Clock, Timer } from '../base/clock.ts';
import { sleep } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { ApiRequest, ApiResponse, Transport } from './transport.ts';
import { isTransportError, TransportError } from './transport-error.ts';

export interface FailoverTransportOptions {
  /** Servers in the order in which they are tried; at least one. */
  readonly servers: readonly string[];
  /** Creates a transport to one of the servers. */
  readonly connect: (server: string) => Transport;
  readonly clock: Clock;
  readonly log: Logger;
  /** Delay of a response after which the server's health is checked; default 3 s. */
  readonly slowMs?: number;
  /** Timeout of a health check; default 3 s. */
  readonly probeMs?: number;
}

interface Server {
  readonly url: string;
  transport: Transport | undefined;
  probing: boolean;
}

export function createFailoverTransport(options: FailoverTransportOptions): Transport {
  return new FailoverTransport(options);
}

class FailoverTransport implements Transport {
  readonly #options: FailoverTransportOptions;
  readonly #servers: readonly Server[];
  #used: Server;
  #closed = false;

  constructor(options: FailoverTransportOptions) {
    const servers = options.servers.map((url) => ({ url, transport: undefined, probing: false }));
    const [first] = servers;
    if (first === undefined) throw new Error('no API server was given');
    this.#options = options;
    this.#servers = servers;
    this.#used = first;
  }

  get host(): string {
    return new URL(this.#used.url).host;
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    const failures = new Map<Server, TransportError>();
    for (;;) {
      const server = this.#untried(failures);
      if (server === undefined) throw allFailed([...failures.values()]);
      try {
        return await this.#ask(server, request);
      } catch (error) {
        failures.set(server, this.#leaveAfter(error, server, request));
      }
    }
  }

  /** Leaves the server and returns the error; throws it if the request must not move to the next server. */
  #leaveAfter(error: unknown, server: Server, request: ApiRequest): TransportError {
    if (!isTransportError(error) || this.#closed) throw error;
    this.#leave(server, error);
    if (!error.unsent && request.method !== 'GET') throw error;
    return error;
  }

  close(): void {
    this.#closed = true;
    for (const server of this.#servers) server.transport?.close();
  }

  async #ask(server: Server, request: ApiRequest): Promise<ApiResponse> {
    if (this.#closed) throw new TransportError('the transport is closed', 'closed', { unsent: true });
    server.transport ??= this.#options.connect(server.url);
    const stopWaiting = this.#whileSlow(server, server.transport);
    try {
      const response = await server.transport.request(request);
      return { ...response, body: this.#body(server, response.body) };
    } finally {
      stopWaiting();
    }
  }

  async *#body(server: Server, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (error) {
      if (isTransportError(error)) this.#leave(server, error);
      throw error;
    }
  }

  #untried(failed: ReadonlyMap<Server, unknown>): Server | undefined {
    return failed.has(this.#used) ? this.#after(this.#used, failed) : this.#used;
  }

  /** Returns the next server of the list that has not failed; undefined when all have. */
  #after(server: Server, failed: ReadonlyMap<Server, unknown>): Server | undefined {
    const at = this.#servers.indexOf(server);
    return [...this.#servers.slice(at + 1), ...this.#servers.slice(0, at)].find((each) => !failed.has(each));
  }

  #leave(server: Server, why: TransportError): void {
    if (this.#closed || this.#used !== server) return;
    const next = this.#after(server, new Map([[server, why]]));
    if (next === undefined) return;
    this.#used = next;
    const fields = { next: next.url, error: errorMessage(why) };
    this.#options.log.warn('an API server does not answer; using the next one', fields);
  }

  /** Checks the server's health repeatedly until the returned function is called. */
  #whileSlow(server: Server, transport: Transport): () => void {
    const { clock, slowMs = 3_000 } = this.#options;
    let timer: Timer;
    const wait = () => {
      timer = clock.after(slowMs, () => {
        void this.#probe(server, transport);
        wait();
      });
    };
    wait();
    return () => timer.cancel();
  }

  async #probe(server: Server, transport: Transport): Promise<void> {
    if (server.probing || server.transport !== transport || this.#closed) return;
    server.probing = true;
    const { connect, clock, probeMs = 3_000 } = this.#options;
    const probe = connect(server.url);
    const answered = answers(probe);
    const late = new AbortController();
    const limit = sleep(clock, probeMs, late.signal).then(
      () => new TransportError(`${server.url} does not answer`, 'timeout'),
      () => undefined,
    );
    const failure = await Promise.race([answered, limit]);
    late.abort();
    probe.close();
    server.probing = false;
    if (failure === undefined || server.transport !== transport) return;
    this.#leave(server, failure);
    // Ends all requests and streams of the transport.
    server.transport = undefined;
    transport.close();
  }
}

/** Resolves to undefined for any response at all, and to the error otherwise. */
async function answers(transport: Transport): Promise<TransportError | undefined> {
  try {
    const { body } = await transport.request({ method: 'GET', path: '/livez' });
    for await (const _ of body);
    return undefined;
  } catch (error) {
    if (isTransportError(error)) return error;
    throw error;
  }
}

function allFailed(failures: readonly TransportError[]): TransportError {
  const [only, ...others] = failures;
  if (only !== undefined && others.length === 0) return only;
  const last = failures.at(-1);
  return new TransportError(failures.map(({ message }) => message).join('; '), last?.failure ?? 'other', {
    unsent: failures.every(({ unsent }) => unsent),
  });
}
