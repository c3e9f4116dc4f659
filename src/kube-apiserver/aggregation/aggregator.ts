/**
 * Forwards requests to extension servers (upstream: kube-aggregator). Which server has a group and version is
 * read from the APIServices in the cache. A server that hangs delays only its own callers, until their
 * timeout: each server has a limit of concurrent requests of its own.
 */
import type { IncomingMessage } from 'node:http';
import {
  type APIService,
  apiServiceName,
  apiServiceResource,
} from '../../api/apiregistration/v1/api-service.ts';
import { groupPriority, isBuiltIn } from '../../api/apiregistration/v1/local-services.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import type { ExtensionKinds } from '../../apimachinery/extension-kinds.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import { newStatusError, StatusError } from '../../apimachinery/status-error.ts';
import type {
  DelegatedDescription,
  DelegatedRequest,
  DelegatedVersion,
  Delegation,
} from '../../apiserver/delegation.ts';
import { newTooManyRequests } from '../../apiserver/load/shed.ts';
import { respondText } from '../../apiserver/respond.ts';
import type { UpgradedConnection } from '../../apiserver/server-context.ts';
import { StreamedAnswer } from '../../apiserver/transport/streamed-answer.ts';
import { errorMessage } from '../../base/log.ts';
import type { KubeContext } from '../context.ts';
import { isFinalStatus } from '../forwarding/answer-body.ts';
import { unreachable } from '../proxy/dial.ts';
import { slicesByService } from '../slices-by-service.ts';
import { type Backend, backendOf } from './backend.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';
import { exchange, isUpgraded } from './exchange.ts';
import { ExtensionDiscovery } from './extension-discovery.ts';
import { type ExtensionServer, extensionServerOf, isAvailable } from './extension-server.ts';
import { areSendable } from './identity-headers.ts';
import { discoveredResources, type FetchedDocument, failureOf, fetchedDocument } from './probe.ts';
import { answeredFields, hasBody, headersFor, isRedirect } from './proxy-plan.ts';

/** Timeout in milliseconds of requests other than watches and streams (--request-timeout). */
const timeoutMs = 60_000;
/** Maximum number of requests, besides watches and streams, that wait for one server at once. */
export const maxWaiting = 100;

type Context = Pick<KubeContext, 'cache' | 'kinds' | 'clock' | 'random' | 'nodeConnection'>;

/** Connections of one extension server. They are replaced when its APIService describes another server. */
interface Kept {
  readonly server: ExtensionServer;
  readonly connections: Connections;
  waiting: number;
}

export class Aggregator implements Delegation {
  readonly #server: Context;
  readonly #identity: ConnectionsOptions['identity'];
  readonly #kept = new Map<string, Kept>();
  readonly #discovery: ExtensionDiscovery;
  #builtIn: { readonly of: Context['kinds']['all']; readonly known: Map<string, boolean> };

  constructor(server: Context, identity: ConnectionsOptions['identity']) {
    this.#server = server;
    this.#identity = identity;
    this.#builtIn = { of: server.kinds.all, known: new Map() };
    identity?.onChange(() => this.#forgetAll());
    this.#discovery = new ExtensionDiscovery({
      ...{ cache: server.cache, clock: server.clock },
      delegates: (group, version) => this.delegates(group, version),
      read: (name, signal) => this.#resourcesOf(name, signal),
      document: (name, path, former, signal) => this.#documentOf(name, path, former, signal),
    });
  }

  delegates(group: string, version: string): boolean {
    return !this.#isBuiltIn(group, version) && this.#serviceOf(group, version)?.spec.service !== undefined;
  }

  async forward(asked: DelegatedRequest): Promise<Response> {
    const { group, version, headers } = asked;
    const service = this.#serviceOf(group, version);
    const server = service && extensionServerOf(service);
    if (!server || !isAvailable(service)) return respondText(503, 'service unavailable\n', headers);
    const kept = this.#keptOf(apiServiceName(server), server);
    try {
      return await this.#passOn(kept, asked);
    } catch (error) {
      if (asked.request.signal.aborted) throw error;
      return respondText(503, `${reasonOf(error)}\n`, headers);
    }
  }

  /**
   * Asks the extension server of an APIService for its discovery, whether or not it is available. Resolves to
   * why it does not answer; undefined if it does.
   */
  async failureOf(name: string, signal: AbortSignal): Promise<string | undefined> {
    const kept = this.#named(name);
    if (!kept) return `${name} has no extension server`;
    return failureOf(kept.server, kept.connections, this.#server.clock, signal);
  }

  groupPriority(group: string): number {
    return groupPriority(group);
  }

  get versions(): readonly DelegatedVersion[] {
    return this.#discovery.versions;
  }

  get descriptions(): readonly DelegatedDescription[] {
    return this.#discovery.descriptions;
  }

  get extensionKinds(): ExtensionKinds {
    return this.#discovery.kinds;
  }

  /** Keeps the discovery of the extension servers. Resolves when the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#discovery.run(signal);
  }

  async #resourcesOf(name: string, signal: AbortSignal): Promise<readonly JsonObject[] | undefined> {
    const kept = this.#named(name);
    if (!kept) return undefined;
    try {
      return await discoveredResources(kept.server, kept.connections, this.#server.clock, signal);
    } catch {
      // The condition of the APIService has the reason.
      return undefined;
    }
  }

  async #documentOf(
    name: string,
    path: string,
    former: FetchedDocument | undefined,
    signal: AbortSignal,
  ): Promise<FetchedDocument | undefined> {
    const kept = this.#named(name);
    if (!kept) return undefined;
    try {
      return await fetchedDocument(kept.connections, this.#server.clock, { path, former }, signal);
    } catch {
      // A server without such a document counts as one that does not answer: the former document stays.
      return former;
    }
  }

  #named(name: string): Kept | undefined {
    const found = this.#server.cache.get(storageKey(apiServiceResource, '', name))?.object;
    const server = found && extensionServerOf(found as APIService);
    return server && this.#keptOf(name, server);
  }

  #forget(name: string): void {
    this.#kept.get(name)?.connections.close();
    this.#kept.delete(name);
  }

  #forgetAll(): void {
    for (const name of [...this.#kept.keys()]) this.#forget(name);
  }

  async #passOn(kept: Kept, asked: DelegatedRequest): Promise<Response> {
    const { request, env, isLongRunning } = asked;
    const url = new URL(request.url);
    const headers = headersFor(kept.server, asked);
    if (!areSendable(headers)) throw unreachable('the name of the user cannot be part of a header');
    const leave = isLongRunning ? () => undefined : enter(kept);
    const limit = this.#limitOf(request, env.shutdown, isLongRunning);
    try {
      const answer = await exchange(kept.connections, {
        method: request.method,
        path: `${url.pathname}${url.search}`,
        headers,
        body: hasBody(request) ? (request.body ?? undefined) : undefined,
        upgrade: env.upgrade !== undefined,
        signal: limit.signal,
      });
      return this.#answerOf(answer, asked, limit.end);
    } catch (error) {
      limit.end();
      if (limit.isOver())
        throw newStatusError('Timeout', 'request did not complete within the allotted timeout');
      throw error;
    } finally {
      leave();
    }
  }

  #answerOf(
    answer: IncomingMessage | UpgradedConnection,
    asked: DelegatedRequest,
    end: () => void,
  ): Response {
    if (isUpgraded(answer)) {
      answer.socket.once('close', end);
      asked.env.upgrade?.switchTo(answer);
      return new Response(null);
    }
    const { statusCode: status = 0, headers, rawHeaders } = answer;
    if (!isFinalStatus(status)) {
      answer.destroy();
      throw unreachable(`it answered with the status ${status}`);
    }
    answer.once('close', end);
    if (isRedirect(status, headers.location)) {
      answer.destroy();
      const refused = 'the backend attempted to redirect this request, which is not permitted';
      return respondText(502, refused, asked.headers);
    }
    return new StreamedAnswer(status, answer, answeredFields(rawHeaders, asked.headers));
  }

  /**
   * Returns a signal that aborts when the client has disconnected, the request takes too long, or this server
   * stops.
   */
  #limitOf(request: Request, shutdown: AbortSignal | undefined, isLongRunning: boolean) {
    const late = new AbortController();
    const timer = isLongRunning ? undefined : this.#server.clock.after(timeoutMs, () => late.abort());
    const ends = [request.signal, late.signal, ...(isLongRunning && shutdown ? [shutdown] : [])];
    const end = () => timer?.cancel();
    return { signal: AbortSignal.any(ends), isOver: () => late.signal.aborted, end };
  }

  #serviceOf(group: string, version: string): APIService | undefined {
    const key = storageKey(apiServiceResource, '', apiServiceName({ group, version }));
    return this.#server.cache.get(key)?.object as APIService | undefined;
  }

  #isBuiltIn(group: string, version: string): boolean {
    const { kinds } = this.#server;
    if (this.#builtIn.of !== kinds.all) this.#builtIn = { of: kinds.all, known: new Map() };
    const name = apiServiceName({ group, version });
    const known = this.#builtIn.known.get(name);
    if (known !== undefined) return known;
    const found = isBuiltIn(kinds, group, version);
    // Clients may ask for any number of names; those of built-in kinds are few.
    if (found) this.#builtIn.known.set(name, found);
    return found;
  }

  #keptOf(name: string, server: ExtensionServer): Kept {
    const kept = this.#kept.get(name);
    if (kept && deepEqual(kept.server, server)) return kept;
    this.#forget(name);
    const { nodeConnection: agents, clock } = this.#server;
    const options = { agents, clock, identity: this.#identity };
    const next = {
      server,
      connections: new Connections(options, server, () => this.#backendOf(server)),
      waiting: 0,
    };
    this.#kept.set(name, next);
    return next;
  }

  #backendOf({ namespace, service: name, port }: ExtensionServer): Backend | undefined {
    const { cache, random } = this.#server;
    const service = cache.get(storageKey(serviceResource, namespace, name))?.object as Service | undefined;
    const slices = cache
      .index(slicesByService)
      .get(`${namespace}/${name}`)
      .map(({ object }) => object as EndpointSlice);
    const podOf = (pod: string) =>
      cache.get(storageKey(podResource, namespace, pod))?.object as Pod | undefined;
    return backendOf({ service, slices, podOf }, port, random.next());
  }
}

/**
 * Returns why the extension server did not answer. Rethrows an error with which this server answers itself.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof StatusError)) return unreachable(errorMessage(error)).message;
  if (error.status.code !== 503) throw error;
  return error.message;
}

/** Counts a request until the returned function is called. Throws 429 if too many wait already. */
function enter(kept: Kept): () => void {
  if (kept.waiting >= maxWaiting)
    throw newTooManyRequests(`too many requests at once: ${maxWaiting} wait for ${kept.server.service}`, 1);
  kept.waiting++;
  return () => void kept.waiting--;
}
