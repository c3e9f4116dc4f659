/**
 * The API server as one Hono app: health and version are public, everything else requires an authenticated
 * user who is authorized. The same app serves HTTPS (serve.ts) and the callers in its own process
 * (handlerFor).
 */
import { type Context, Hono } from 'hono';
import { booleanParameter } from '../apimachinery/list-options.ts';
import { storedKind } from '../apimachinery/resource-definition.ts';
import { newForbidden, newStatusError, StatusError } from '../apimachinery/status-error.ts';
import { inTurns } from '../base/event-loop/pieces.ts';
import { Registry } from '../base/metrics/registry.ts';
import { inChildSpan } from '../base/tracing/current-span.ts';
import type { Store } from '../storage/store.ts';
import { admissionChain } from './admission/admission.ts';
import { fieldsOf, identify, whoAsks } from './authentication/identify.ts';
import {
  type AccessRequest,
  type Authorize,
  mastersAuthorizer,
  refusal,
  unionAuthorizer,
} from './authorization/authorizer.ts';
import { createYamlReader, createYamlWriter } from './body/yaml-thread.ts';
import { createDiscovery } from './discovery/discovery.ts';
import { encoderOf, statusInForm } from './encoding/answer.ts';
import { createEncoders } from './encoding/encoders.ts';
import { toStatusError } from './errors.ts';
import { createHealth } from './health.ts';
import { defaultLimits, InFlight, inFlightLimits } from './load/in-flight.ts';
import { withInFlightLimit } from './load/shed.ts';
import { WatchSelections } from './load/watch-selections.ts';
import { createOpenApi } from './openapi.ts';
import type { ApiServerOptions, RequestEnv } from './options.ts';
import { indexFields } from './reads/field-index.ts';
import { LatestRevision } from './reads/latest-revision.ts';
import { auditHeaders } from './request/audit-id.ts';
import { accessOf, loadOf } from './request/request-access.ts';
import { parseRequestInfo, type RequestInfo, type ResourceRequest, readUrl } from './request/request-info.ts';
import { logRequest } from './request/request-log.ts';
import { goesOn, underItsName } from './request/request-meter.ts';
import { RequestMetrics } from './request/request-metrics.ts';
import type { RequestScope } from './request/request-scope.ts';
import { answerWithin, isLongRunning, requestTimeout } from './request/request-timeout.ts';
import { type Identified, traceRequest } from './request/request-tracing.ts';
import type { UserInfo } from './request/user.ts';
import { type Headers, respondJson, respondText, warningHeader } from './respond.ts';
import type { EngineContext, ServerContext } from './server-context.ts';
import { findSubresource, type Subresource } from './subresources/subresources.ts';
import type { AskedRequest } from './transport/asked-request.ts';
import { checkHead } from './transport/head-limits.ts';
import { RequestWork } from './transport/request-work.ts';
import { Turns } from './turns.ts';
import { formsOf, handlerOf } from './verbs/verbs.ts';
import { versionDocument } from './version.ts';
import { WriteTurns } from './write-turns.ts';

interface Env {
  Bindings: RequestEnv;
  Variables: { user: UserInfo; identified: Identified };
}

/** Kind and subresource that a request addresses; undefined where none is served. */
interface Addressed {
  readonly served: RequestScope['served'] | undefined;
  readonly subresource: Subresource | undefined;
}

/** Throws if the request is not authorized, or is over a rate limit at this moment. */
type Permit = (access: Extract<AccessRequest, { type: 'resource' }>) => Promise<void>;

/** A request for a resource that the app does not serve. */
export interface DirectRequest extends AskedRequest {
  /** Path of the resource that the request stands for. */
  readonly address: string;
  readonly query: URLSearchParams;
}

export interface ApiServer {
  readonly app: Hono<Env>;
  /**
   * Runs `work` for a request that passes all checks of the app: its head, authentication, the limit of
   * concurrent requests, and authorization. Rejects with a Status otherwise. The impersonation headers of the
   * request must be in `env`.
   */
  admit<T extends { readonly status: number }>(
    request: DirectRequest,
    env: RequestEnv & Required<Pick<RequestEnv, 'impersonation'>>,
    work: (info: ResourceRequest, user: UserInfo) => Promise<T>,
  ): Promise<T>;
  /** Returns the answer to a request that failed with `error`. */
  refuse(request: AskedRequest, error: unknown): Response;
  /**
   * Returns a handler that calls the server in this process as `user`, without authentication; it uses
   * `store` instead of the server's own if given.
   */
  handlerFor(user: UserInfo, store?: Store): (request: Request) => Promise<Response>;
}

export function createApiServer(options: ApiServerOptions): ApiServer {
  const engine: EngineContext = {
    store: options.store,
    cache: options.cache,
    latest: new LatestRevision(options.store, options.clock, inTurns(options.clock, options.loopMeter)),
    kinds: options.kinds,
    fields: options.fields,
    messages: options.messages,
    encoders: createEncoders(options.messages, () => options.clock.now()),
    clock: options.clock,
    random: options.random,
    turns: new Turns(options.clock, options.loopMeter),
    writeTurns: new WriteTurns(options.clock),
    watchSelections: new WatchSelections(),
    log: options.log.named('apiserver'),
    loopMeter: options.loopMeter,
    notesTraces: options.tracer !== undefined,
    authorize: (request) => authorize(request),
    authenticate: options.authenticate,
    readYaml: options.readYaml ?? createYamlReader(options.clock),
    writeYaml: options.writeYaml ?? createYamlWriter(options.clock),
  };
  indexFields(options.cache, options.kinds.stored);
  const { behavior, admission, authorizers, documents } = options.parts(engine);
  const server: ServerContext = { ...engine, behavior, admission: admissionChain(admission) };
  const authorize = unionAuthorizer([mastersAuthorizer, ...authorizers]);
  const app = new Hono<Env>();
  const refuse = (request: AskedRequest, error: unknown) => {
    const { status } = toStatusError(error, request, server);
    return statusInForm(request, status, commonHeaders(server, request), server.messages);
  };
  app.onError((error, c) => refuse(c.req.raw, error));
  app.notFound((c) => respondText(404, '404 page not found\n', commonHeaders(server, c.req.raw)));
  const pathOf = (c: Context<Env>) => c.env?.address ?? URL.parse(c.req.raw.url)?.pathname ?? '';
  const userOf = (c: Context<Env>) => (c.get('user') as UserInfo | undefined)?.name;
  if (server.log.hasDebug) {
    app.use(async (c, next) => {
      const began = server.clock.monotonic();
      await next();
      logRequest(server, {
        request: c.req.raw,
        path: pathOf(c),
        user: userOf(c),
        status: c.res.status,
        began,
      });
    });
  }
  if (server.loopMeter) {
    app.use((c, next) =>
      underItsName(server, { request: c.req.raw, path: () => pathOf(c), user: () => userOf(c) }, next),
    );
  }
  app.use(async (c, next) => {
    checkHead(c.req.raw);
    await next();
  });

  /**
   * Authenticates the request and stores its user. A rejected impersonation of a path that is no resource is
   * answered in text, because kubectl's discovery shows none of a Status to its user.
   */
  const know = async (c: Context<Env>): Promise<Response | undefined> => {
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
  };
  /**
   * Answers anyone, authenticated or not. A request that impersonates must be authenticated and authorized to
   * do so.
   */
  type Answer = (request: Request, isKnown: () => Promise<boolean>) => Response | Promise<Response>;
  const open = (path: string, answer: Answer) =>
    app.get(path, async (c) => {
      const request = c.req.raw;
      const env = c.env ?? {};
      const refused = fieldsOf(request, env).length > 0 ? await know(c) : undefined;
      return refused ?? answer(request, async () => (await whoAsks(request, env, options)) !== undefined);
    });
  const health = createHealth(server, options.cacheSynced);
  for (const path of ['/healthz', '/livez', '/readyz']) {
    open(path, health);
    open(`${path}/:check`, health);
  }
  const version = JSON.stringify(versionDocument(options.version));
  for (const path of ['/version', '/version/']) {
    open(path, (request) => respondJson(200, version, commonHeaders(server, request)));
  }

  app.use(async (c, next) => (await know(c)) ?? next());
  const permit: Permit = async (access) => {
    const decision = await inChildSpan('authorization', {}, () => authorize(access));
    if (decision.allowed) return behavior.limit(access);
    const { group, resource: plural, name } = access;
    throw newForbidden({ group, plural }, name, refusal(access, decision));
  };
  const discovery = createDiscovery(server.kinds, behavior, options.advertiseAddress, [...documents.keys()]);
  const openapi = createOpenApi(server.kinds, options, server.turns);
  const serve = (c: Context<Env>, info: RequestInfo, addressed: Addressed, query: URLSearchParams) => {
    if (info.type === 'resource') {
      const own = c.env?.store ? { ...server, store: c.env.store } : server;
      return serveResource(c, own, permit, { info, ...addressed }, query);
    }
    const document = documents.get(c.req.path);
    return servePath(
      c,
      authorize,
      query,
      async (request) => document?.(request) ?? discovery(request) ?? (await openapi(request)),
    );
  };
  const metrics = options.metrics ?? new Registry();
  const measured = new RequestMetrics(metrics, server.clock);
  const { loopMeter } = server;
  if (loopMeter) metrics.collect(() => loopMeter.families());
  const limits = inFlightLimits(options.limits ?? defaultLimits);
  const inFlight = new InFlight(limits, (sort) => measured.rejected(sort));
  /** Returns the kind and the subresource that a request addresses, as far as they are served. */
  const addressedBy = (info: ResourceRequest): Addressed => {
    const served = server.kinds.find(info.group, info.version, info.plural);
    const subresource = info.subresource
      ? served && findSubresource(served, info.subresource, behavior)
      : undefined;
    return { served, subresource };
  };
  const nothing: Addressed = { served: undefined, subresource: undefined };
  app.all('*', (c) => {
    const { pathname, searchParams } = readUrl(c.req.raw.url);
    const { raw, method } = c.req;
    const info = parseRequestInfo(c.env?.address ?? pathname);
    const addressed = info.type === 'resource' ? addressedBy(info) : nothing;
    const { served: kind, subresource } = addressed;
    const isServed =
      kind !== undefined && (subresource !== undefined || (info.type === 'resource' && !info.subresource));
    const longRunning = subresource?.longRunning;
    const load = loadOf(method, info, subresource, searchParams, c.get('user'), c.env);
    const { verb, user, onClosed } = load;
    const served = () => {
      // Requests of the control plane must not wait for requests of users and nodes.
      if (c.env?.user) return serve(c, info, addressed, searchParams);
      return withInFlightLimit(inFlight, load, () => serve(c, info, addressed, searchParams));
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
  });
  const admit: ApiServer['admit'] = async (request, env, work) => {
    checkHead(request);
    const { method, query, headers } = request;
    const since = options.clock.monotonic();
    const user = await identify(request, env, options, authorize);
    const identified = { since, until: options.clock.monotonic() };
    const info = parseRequestInfo(request.address);
    if (info.type !== 'resource') throw newNotFoundPath();
    const { subresource } = addressedBy(info);
    const load = loadOf(method, info, subresource, query, user, env);
    const answer = () =>
      withInFlightLimit(inFlight, load, async () => {
        await permit(accessOf(method, info, subresource, query, user));
        return work(info, user);
      });
    if (!options.tracer) return answer();
    const { remoteAddress } = env;
    const { verb } = load;
    const longRunning = subresource?.longRunning;
    const asked = { method, info, verb, longRunning, user, remoteAddress, headers, identified };
    return traceRequest(options.tracer, asked, answer);
  };

  return {
    app,
    admit,
    refuse,
    handlerFor: (user, store) => async (request) => app.fetch(request, { user, ...(store && { store }) }),
  };
}

/** Returns the headers that Kubernetes sends with every answer. */
function commonHeaders({ random }: ServerContext, request: AskedRequest): Headers {
  return { ...auditHeaders(request, random), 'cache-control': 'no-cache, private' };
}

const newNotFoundPath = () => newStatusError('NotFound', 'the server could not find the requested resource');

async function servePath(
  c: Context<Env>,
  authorize: Authorize,
  query: URLSearchParams,
  find: (request: Request) => Promise<Response | undefined>,
): Promise<Response> {
  const { path, method } = c.req;
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const access: AccessRequest = { type: 'path', user: c.get('user'), verb, path };
  const decision = await authorize(access);
  if (!decision.allowed) throw newStatusError('Forbidden', `forbidden: ${refusal(access, decision)}`);
  requestTimeout(query);
  const found = method === 'GET' || method === 'HEAD' ? await find(c.req.raw) : undefined;
  return found ?? c.notFound();
}

async function serveResource(
  c: Context<Env>,
  server: ServerContext,
  permit: Permit,
  { info, served, subresource }: Addressed & { readonly info: ResourceRequest },
  query: URLSearchParams,
): Promise<Response> {
  const request = c.req.raw;
  const watch = booleanParameter(query, 'watch') ?? false;
  const user = c.get('user');
  const access = accessOf(c.req.method, info, subresource, query, user);
  await permit(access);
  goesOn(server, request);
  if (!served) {
    const headers = commonHeaders(server, request);
    return server.behavior.answerUnknown(c.req.method, watch, info, headers) ?? c.notFound();
  }

  const { shutdown, upgrade, remoteAddress, hangUp, push } = c.env ?? {};
  const connection = { shutdown, upgrade, remoteAddress, hangUp, push };
  const handle = handlerOf(c.req.method, served, info, server.behavior);
  const answer = async (deadline?: AbortSignal) =>
    handle(createScope({ server, served, info, request, query, user, ...connection }, deadline));
  const timeoutMs = isLongRunning(access.verb, subresource) ? undefined : requestTimeout(query);
  const response = await (timeoutMs === undefined ? answer() : answerWithin(server.clock, timeoutMs, answer));
  // The body of an answer to HEAD is never read, so a stream must be cancelled.
  if (c.req.method === 'HEAD') await response.body?.cancel();
  return response;
}

function createScope(
  base: Omit<RequestScope, 'definition' | 'encoder' | 'warnings' | 'headers' | 'signal' | 'work'>,
  deadline: AbortSignal | undefined,
): RequestScope {
  const warnings: string[] = [];
  const common = commonHeaders(base.server, base.request);
  let encoder: RequestScope['encoder'] | undefined;
  let signal: AbortSignal | undefined;
  return {
    ...base,
    definition: storedKind(base.served),
    get encoder() {
      encoder ??= encoderOf(base, formsOf(base.served, base.info, base.server.behavior));
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
