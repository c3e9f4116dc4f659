/**
 * Handling of a request by the API server: authentication, the limit of concurrent requests, authorization,
 * tracing, and the answer of a resource or of another path.
 */
import type { Context } from 'hono';
import { booleanParameter } from '../../apimachinery/list-options.ts';
import { storedKind } from '../../apimachinery/resource-definition.ts';
import { newForbidden, newStatusError, StatusError } from '../../apimachinery/status-error.ts';
import type { Current } from '../../base/current.ts';
import { inChildSpan } from '../../base/tracing/current-span.ts';
import { fieldsOf, identify } from '../authentication/identify.ts';
import { type AccessRequest, type Authorize, refusal } from '../authorization/authorizer.ts';
import type { Delegation } from '../delegation.ts';
import { documentSource, watchedType } from '../document-watch.ts';
import { encoderOf } from '../encoding/answer.ts';
import { toStatusError } from '../errors.ts';
import type { InFlight } from '../load/in-flight.ts';
import { type Aside, withInFlightLimit } from '../load/shed.ts';
import type { ApiServerOptions, RequestEnv } from '../options.ts';
import { type Headers, respond, respondText, warningHeader } from '../respond.ts';
import type { ServerContext } from '../server-context.ts';
import { findSubresource, type KindSubresources, type Subresource } from '../subresources/subresources.ts';
import type { AskedRequest, DirectRequest } from '../transport/asked-request.ts';
import { checkHead } from '../transport/head-limits.ts';
import { streamOf } from '../transport/pushed-body.ts';
import { RequestWork } from '../transport/request-work.ts';
import { formsOf, handlerOf } from '../verbs/verbs.ts';
import { auditHeaders } from './audit-id.ts';
import { accessOf, loadOf } from './request-access.ts';
import {
  type PathRequest,
  parseRequestInfo,
  type RequestInfo,
  type ResourceRequest,
  readUrl,
} from './request-info.ts';
import { goesOn } from './request-meter.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { RequestScope } from './request-scope.ts';
import { answerWithin, isLongRunning, requestTimeout } from './request-timeout.ts';
import { type Identified, traceRequest } from './request-tracing.ts';
import type { UserInfo } from './user.ts';

export interface Env {
  Bindings: RequestEnv;
  Variables: { user: UserInfo; identified: Identified };
}

/** Kind and subresource that a request addresses; undefined where none is served. */
interface Addressed {
  readonly served: RequestScope['served'] | undefined;
  readonly subresource: Subresource | undefined;
  /** Group and version that another server serves. */
  readonly delegated?: Delegated | undefined;
}

/** The parts of a request that its answer depends on. */
interface AskedFor {
  readonly info: RequestInfo;
  readonly addressed: Addressed;
  readonly query: URLSearchParams;
  /** Text of a path, if it is watched. */
  readonly watched: Current<string> | undefined;
}

interface Delegated {
  readonly group: string;
  readonly version: string;
}

const nothing: Addressed = { served: undefined, subresource: undefined };

export interface HandlingParts {
  readonly options: Pick<ApiServerOptions, 'authenticate' | 'clock' | 'remoteAddressKey' | 'tracer'>;
  readonly server: ServerContext;
  readonly subresources: KindSubresources;
  readonly authorize: Authorize;
  readonly inFlight: InFlight;
  /** Other servers, to which requests are forwarded; absent if there are none. */
  readonly delegation?: Delegation | undefined;
  readonly measured: RequestMetrics;
  /** Texts that can be watched, by path. */
  readonly watches?: ReadonlyMap<string, Current<string>> | undefined;
  /** Returns the document, the discovery or the schema at a path. */
  readonly documentAt: (path: string, request: Request) => Promise<Response | undefined>;
}

/** Handles the requests of one server. */
export class RequestHandling {
  readonly #parts: HandlingParts;

  constructor(parts: HandlingParts) {
    this.#parts = parts;
  }

  /**
   * Authenticates the request and stores its user. If impersonation is rejected for a path that is no
   * resource, the answer is text, because kubectl's discovery does not print the message of a Status.
   */
  async know(c: Context<Env>): Promise<Response | undefined> {
    const { options, server, authorize } = this.#parts;
    const request = c.req.raw;
    const env = c.env ?? {};
    try {
      const since = options.clock.monotonic();
      c.set('user', await identify(request, env, options, authorize));
      if (options.tracer && !env.user) c.set('identified', { since, until: options.clock.monotonic() });
      return undefined;
    } catch (error) {
      const asksAsAnother = fieldsOf(request, env).length > 0 && error instanceof StatusError;
      if (!asksAsAnother || parseRequestInfo(readUrl(request.url).pathname).type !== 'path') throw error;
      return respondText(error.status.code, `${error.status.message}\n`, commonHeaders(server, request));
    }
  }

  /** Answers a request whose user is known. */
  answer(c: Context<Env>): Response | Promise<Response> {
    const { options, server, inFlight, measured } = this.#parts;
    const { pathname, searchParams } = readUrl(c.req.raw.url);
    const { raw, method } = c.req;
    const info = parseRequestInfo(c.env?.address ?? pathname);
    const addressed = info.type === 'resource' ? this.#addressedBy(info) : this.#documentOf(info);
    const { subresource } = addressed;
    const isServed = isAddressed(info, addressed);
    const longRunning = subresource?.longRunning;
    const watched = this.#watchedBy(method, info, searchParams);
    const load = loadOf(method, info, subresource, searchParams, c.get('user'), c.env, watched !== undefined);
    const { verb, user, onClosed } = load;
    const served = () => {
      const asked = { info, addressed, query: searchParams, watched };
      // Requests of the control plane must not wait for requests of users and nodes.
      if (c.env?.user) return this.#serve(c, asked);
      return withInFlightLimit(inFlight, load, (aside) => this.#serve(c, asked, aside));
    };
    const answer = () =>
      measured.measure(
        { method, info, verb, query: searchParams, longRunning, isServed, onClosed },
        served,
        (error) => toStatusError(error, raw, server),
      );
    if (!options.tracer || info.type !== 'resource') return answer();
    const { headers } = raw;
    const { remoteAddress } = c.env ?? {};
    const identified = c.get('identified');
    const asked = { method, info, verb, longRunning, user, remoteAddress, headers, identified };
    return traceRequest(options.tracer, asked, answer);
  }

  /** Implements ApiServer.admit. */
  async admit<T extends { readonly status: number }>(
    request: DirectRequest,
    env: RequestEnv & Required<Pick<RequestEnv, 'impersonation'>>,
    work: (info: ResourceRequest, user: UserInfo) => Promise<T>,
  ): Promise<T> {
    const { options, authorize, inFlight } = this.#parts;
    checkHead(request);
    const { method, query, headers } = request;
    const since = options.clock.monotonic();
    const user = await identify(request, env, options, authorize);
    const identified = { since, until: options.clock.monotonic() };
    const info = parseRequestInfo(request.address);
    if (info.type !== 'resource') throw newNotFoundPath();
    const { subresource } = this.#addressedBy(info);
    const load = loadOf(method, info, subresource, query, user, env);
    const answer = () =>
      withInFlightLimit(inFlight, load, async () => {
        await this.#permit(accessOf(method, info, subresource, query, user));
        return work(info, user);
      });
    if (!options.tracer) return answer();
    const { remoteAddress } = env;
    const { verb } = load;
    const longRunning = subresource?.longRunning;
    const asked = { method, info, verb, longRunning, user, remoteAddress, headers, identified };
    return traceRequest(options.tracer, asked, answer);
  }

  /** Returns what a path addresses: the discovery of a version that another server serves, or nothing. */
  #documentOf({ path }: PathRequest): Addressed {
    const [, group, version] = versionPath.exec(path) ?? [];
    return group && version && this.#parts.delegation?.delegates(group, version)
      ? { ...nothing, delegated: { group, version } }
      : nothing;
  }

  /** Returns the kind and the subresource that a request addresses, as far as they are served. */
  #addressedBy(info: ResourceRequest): Addressed {
    const { server, subresources, delegation } = this.#parts;
    if (delegation?.delegates(info.group, info.version))
      return { ...(streams.has(info.subresource) ? stream : nothing), delegated: info };
    const served = server.kinds.find(info.group, info.version, info.plural);
    const subresource = info.subresource
      ? served && findSubresource(served, info.subresource, subresources)
      : undefined;
    return { served, subresource };
  }

  /**
   * Returns a kind that was defined before the request and is not served yet, such as one that a client has
   * just created at another server.
   */
  async #servedLater(
    info: ResourceRequest,
    signal: AbortSignal,
  ): Promise<RequestScope['served'] | undefined> {
    const { server } = this.#parts;
    await server.behavior.untilServed(info, signal);
    return this.#addressedBy(info).served;
  }

  /** Throws if the request is not authorized, or is over a rate limit at this moment. */
  async #permit(access: Extract<AccessRequest, { type: 'resource' }>): Promise<void> {
    const { authorize, server } = this.#parts;
    const decision = await inChildSpan('authorization', {}, () => authorize(access));
    if (decision.allowed) return server.behavior.limit(access);
    const { group, resource: plural, name } = access;
    throw newForbidden({ group, plural }, name, refusal(access, decision));
  }

  /** Returns the text that a request watches, at a path that is no resource. */
  #watchedBy(method: string, info: RequestInfo, query: URLSearchParams): Current<string> | undefined {
    const isWatch = method === 'GET' && info.type === 'path' && booleanParameter(query, 'watch') === true;
    return isWatch ? this.#parts.watches?.get(info.path) : undefined;
  }

  #serve(c: Context<Env>, { info, addressed, query, watched }: AskedFor, aside?: Aside): Promise<Response> {
    return info.type === 'resource'
      ? this.#serveResource(c, info, addressed, query, aside)
      : this.#servePath(c, query, addressed.delegated, watched);
  }

  /** Forwards a request to the server of its group. */
  #forward(
    c: Context<Env>,
    { group, version }: Delegated,
    verb: string,
    subresource = '',
  ): Promise<Response> {
    const { delegation, server } = this.#parts;
    if (!delegation) throw newNotFoundPath();
    const request = c.req.raw;
    const isLongRunning = verb === 'watch' || streams.has(subresource) || c.env?.upgrade !== undefined;
    const headers = commonHeaders(server, request);
    const user = c.get('user');
    return delegation.forward({ group, version, request, user, env: c.env ?? {}, isLongRunning, headers });
  }

  async #servePath(
    c: Context<Env>,
    query: URLSearchParams,
    delegated: Delegated | undefined,
    watched: Current<string> | undefined,
  ): Promise<Response> {
    const { authorize, documentAt } = this.#parts;
    const { path, method } = c.req;
    const ofMethod = method === 'HEAD' ? 'get' : method.toLowerCase();
    const verb = watched ? 'watch' : ofMethod;
    const access: AccessRequest = { type: 'path', user: c.get('user'), verb, path };
    const decision = await authorize(access);
    if (!decision.allowed) throw newStatusError('Forbidden', `forbidden: ${refusal(access, decision)}`);
    if (delegated) return this.#forward(c, delegated, verb);
    if (watched) return this.#watch(c, watched);
    requestTimeout(query);
    const isServed = method === 'GET' || method === 'HEAD' || method === 'POST';
    const found = isServed ? await documentAt(path, c.req.raw) : undefined;
    return found ?? c.notFound();
  }

  #watch(c: Context<Env>, text: Current<string>): Response {
    const { shutdown, push, hangUp } = c.env ?? {};
    const { server } = this.#parts;
    const request = c.req.raw;
    const source = documentSource({ text, clock: server.clock, shutdown });
    push?.(source);
    const body = push ? null : streamOf(source, request.signal, hangUp);
    return respond(200, body, { ...commonHeaders(server, request), ...watchedType });
  }

  async #serveResource(
    c: Context<Env>,
    info: ResourceRequest,
    { served: found, subresource, delegated }: Addressed,
    query: URLSearchParams,
    aside: Aside | undefined,
  ): Promise<Response> {
    const server = c.env?.store ? { ...this.#parts.server, store: c.env.store } : this.#parts.server;
    const request = c.req.raw;
    const user = c.get('user');
    const access = accessOf(c.req.method, info, subresource, query, user);
    await this.#permit(access);
    goesOn(server, request);
    if (delegated) return this.#forward(c, delegated, access.verb, info.subresource);
    const served = found ?? (await this.#servedLater(info, request.signal));
    if (!served) return c.notFound();

    const { shutdown, upgrade, remoteAddress, hangUp, push } = c.env ?? {};
    const connection = { shutdown, upgrade, remoteAddress, hangUp, push, aside };
    const { subresources } = this.#parts;
    const handle = handlerOf(c.req.method, served, info, subresources);
    const answer = async (deadline?: AbortSignal) =>
      handle(
        createScope({ server, served, info, request, query, user, ...connection }, subresources, deadline),
      );
    const timeoutMs = isLongRunning(access.verb, subresource) ? undefined : requestTimeout(query);
    const response = await (timeoutMs === undefined
      ? answer()
      : answerWithin(server.clock, timeoutMs, answer));
    // The body of an answer to HEAD is never read, so a stream must be cancelled.
    if (c.req.method === 'HEAD') await response.body?.cancel();
    return response;
  }
}

/** Path of the discovery of one version. */
const versionPath = /^\/apis\/([^/]+)\/([^/]+)\/?$/;

/** Subresources whose requests have no timeout, by their names in all groups. */
const streams: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);
const stream: Addressed = { served: undefined, subresource: { methods: {}, longRunning: 'stream' } };

/** Returns true if the server has the path, or the kind and the subresource. */
const isAddressed = (info: RequestInfo, { served, subresource }: Addressed): boolean =>
  served !== undefined && (subresource !== undefined || (info.type === 'resource' && !info.subresource));

const newNotFoundPath = () => newStatusError('NotFound', 'the server could not find the requested resource');

/** Returns the headers that Kubernetes sends with every answer. */
export function commonHeaders({ random }: ServerContext, request: AskedRequest): Headers {
  return { ...auditHeaders(request, random), 'cache-control': 'no-cache, private' };
}

function createScope(
  base: Omit<RequestScope, 'definition' | 'encoder' | 'warnings' | 'headers' | 'signal' | 'work'>,
  subresources: KindSubresources,
  deadline: AbortSignal | undefined,
): RequestScope {
  const { deprecation } = base.served;
  const warnings: string[] = deprecation === undefined ? [] : [deprecation];
  const common = commonHeaders(base.server, base.request);
  let encoder: RequestScope['encoder'] | undefined;
  let signal: AbortSignal | undefined;
  return {
    ...base,
    definition: storedKind(base.served),
    get encoder() {
      encoder ??= encoderOf(base, formsOf(base.served, base.info, subresources));
      return encoder;
    },
    warnings,
    work: new RequestWork(base.server),
    get headers() {
      return { ...common, ...warningHeader(warnings) };
    },
    get signal() {
      signal ??= deadline ? AbortSignal.any([base.request.signal, deadline]) : base.request.signal;
      return signal;
    },
  };
}
