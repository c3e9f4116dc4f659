/**
 * The API server as one Hono app: health and version are public, everything else requires an authenticated
 * user who is authorized. The same app serves HTTPS (serve.ts) and the callers in its own process
 * (handlerFor).
 */

import { type Context, Hono } from 'hono';
import { versionDocument } from '../apimachinery/version-document.ts';
import { Registry } from '../base/metrics/registry.ts';
import type { Store } from '../storage/store.ts';
import { admissionChain } from './admission/admission.ts';
import { fieldsOf, whoAsks } from './authentication/identify.ts';
import { type Authorize, mastersAuthorizer, unionAuthorizer } from './authorization/authorizer.ts';
import type { Delegation } from './delegation.ts';
import { createDiscovery } from './discovery/discovery.ts';
import { statusInForm } from './encoding/answer.ts';
import { createEngine } from './engine.ts';
import { toStatusError } from './errors.ts';
import { createHealth } from './health.ts';
import { defaultLimits, InFlight, inFlightLimits } from './load/in-flight.ts';
import { createOpenApi } from './openapi.ts';
import type { ApiServerOptions, RequestEnv, ServerParts } from './options.ts';
import { indexFields } from './reads/field-index.ts';
import { commonHeaders, type Env, RequestHandling } from './request/request-handling.ts';
import type { ResourceRequest } from './request/request-info.ts';
import { logRequest } from './request/request-log.ts';
import { underItsName } from './request/request-meter.ts';
import { RequestMetrics } from './request/request-metrics.ts';
import type { UserInfo } from './request/user.ts';
import { respondJson, respondText } from './respond.ts';
import type { ServerContext } from './server-context.ts';
import type { KindSubresources } from './subresources/subresources.ts';
import type { AskedRequest, DirectRequest } from './transport/asked-request.ts';
import { checkHead } from './transport/head-limits.ts';

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
  const engine = createEngine(options, (request) => authorize(request));
  indexFields(options.cache, options.kinds.stored);
  const { behavior, admission, authorizers, documents, actions, watches, delegation } = options.parts(engine);
  const server: ServerContext = { ...engine, behavior, admission: admissionChain(admission) };
  const authorize: Authorize = unionAuthorizer([mastersAuthorizer, ...authorizers]);
  const handling = new RequestHandling({
    ...{ options, server, authorize, subresources: behavior, delegation, watches },
    ...requestCounts(options, server),
    documentAt: documentReader(options, server, behavior, { documents, actions, delegation }),
  });
  const refuse: ApiServer['refuse'] = (request, error) => {
    const { status } = toStatusError(error, request, server);
    return statusInForm(request, status, commonHeaders(server, request), server.messages);
  };
  const app = new Hono<Env>();
  app.onError((error, c) => refuse(c.req.raw, error));
  app.notFound((c) => respondText(404, '404 page not found\n', commonHeaders(server, c.req.raw)));
  observeRequests(app, server);
  app.use(async (c, next) => {
    checkHead(c.req.raw);
    await next();
  });
  const { answerFirst } = options;
  if (answerFirst) app.use(async (c, next) => (await answerFirst(c.req.raw, c.env ?? {})) ?? next());
  openToAll(app, options, server, handling);
  app.use(async (c, next) => (await handling.know(c)) ?? next());
  app.all('*', (c) => handling.answer(c));
  return {
    app,
    admit: (request, env, work) => handling.admit(request, env, work),
    refuse,
    handlerFor: (user, store) => async (request) => app.fetch(request, { user, ...(store && { store }) }),
  };
}

/** Creates the limit of concurrent requests and the metrics of requests. */
function requestCounts({ metrics = new Registry(), limits }: ApiServerOptions, server: ServerContext) {
  const { loopMeter, clock } = server;
  const measured = new RequestMetrics(metrics, clock);
  if (loopMeter) metrics.collect(() => loopMeter.families());
  const inFlight = new InFlight(inFlightLimits(limits ?? defaultLimits), (sort) => measured.rejected(sort));
  return { measured, inFlight };
}

/** Returns the reader of paths that are no resources: documents of the kinds, discovery, and schemas. */
function documentReader(
  options: ApiServerOptions,
  { kinds, turns }: ServerContext,
  subresources: KindSubresources,
  {
    documents,
    actions,
    delegation,
  }: Pick<ServerParts, 'documents' | 'actions'> & { delegation: Delegation | undefined },
) {
  const discovery = createDiscovery(
    kinds,
    subresources,
    options.advertiseAddress,
    [...documents.keys()],
    delegation,
  );
  const openapi = createOpenApi(kinds, options, turns, delegation);
  return async (path: string, request: Request): Promise<Response | undefined> => {
    if (request.method === 'POST') return actions?.get(path)?.(request);
    return documents.get(path)?.(request) ?? discovery(request) ?? (await openapi(request));
  };
}

/** Logs requests, and names them to the meter of the event loop, where these are used. */
function observeRequests(app: Hono<Env>, server: ServerContext): void {
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
}

type OpenAnswer = (request: Request, isKnown: () => Promise<boolean>) => Response | Promise<Response>;

/**
 * Serves health and version to anyone, authenticated or not. A request that impersonates must be
 * authenticated and authorized to do so.
 */
function openToAll(
  app: Hono<Env>,
  options: ApiServerOptions,
  server: ServerContext,
  handling: RequestHandling,
): void {
  const open = (path: string, answer: OpenAnswer) =>
    app.get(path, async (c) => {
      const request = c.req.raw;
      const env = c.env ?? {};
      const refused = fieldsOf(request, env).length > 0 ? await handling.know(c) : undefined;
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
}
