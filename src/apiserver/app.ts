/**
 * The API server as one Hono app: health and version for anyone, everything else for a known user who is
 * allowed. The same app serves HTTPS (serve.ts) and the callers in its own process (handlerFor).
 */
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { type Pod, podResource } from '../api/core/v1/pod.ts';
import { storageKey } from '../apimachinery/resource-definition.ts';
import { newForbidden, newStatusError, newUnauthorized } from '../apimachinery/status-error.ts';
import { decodeObject } from '../storage/codec.ts';
import {
  type AccessRequest,
  type Authorizer,
  discoveryAuthorizer,
  mastersAuthorizer,
  refusal,
  unionAuthorizer,
} from './authorization/authorizer.ts';
import { nodeAuthorizer, type PodNodeLookup } from './authorization/node-authorizer.ts';
import { createDiscovery } from './discovery/discovery.ts';
import { toStatusError } from './errors.ts';
import { createHealth } from './health.ts';
import { createOpenApi } from './openapi.ts';
import type { ApiServerOptions, RequestEnv } from './options.ts';
import { parseRequestInfo, type ResourceRequest } from './request-info.ts';
import type { RequestScope } from './request-scope.ts';
import { type Headers, respondStatus, respondText, warningHeader } from './respond.ts';
import { resourceTable, type ServerContext } from './server-context.ts';
import type { UserInfo } from './user.ts';
import { handlerOf, verbOf } from './verbs/verbs.ts';
import { versionDocument } from './version.ts';

interface Env {
  Bindings: RequestEnv;
  Variables: { user: UserInfo };
}

export interface ApiServer {
  readonly app: Hono<Env>;
  readonly serviceCIDR: string;
  /** Calls the server in this process as a user that needs no proof. */
  handlerFor(user: UserInfo): (request: Request) => Promise<Response>;
}

export function createApiServer(options: ApiServerOptions): ApiServer {
  const server: ServerContext = {
    store: options.store,
    cache: options.cache,
    resources: resourceTable(options.definitions),
    clock: options.clock,
    random: options.random,
    log: options.log.named('apiserver'),
    serviceCIDR: options.serviceCIDR ?? '10.96.0.0/16',
    nodePorts: options.nodePorts ?? [30000, 32767],
    nodeConnection: options.nodeConnection,
  };
  const authorize = unionAuthorizer([
    mastersAuthorizer,
    discoveryAuthorizer,
    nodeAuthorizer(podNodes(server)),
    ...(options.authorize ? [options.authorize] : []),
  ]);
  const app = new Hono<Env>();

  app.onError((error, c) => {
    const { status } = toStatusError(error, c.req.raw, server.log);
    return respondStatus(status, commonHeaders(server));
  });
  app.notFound(() => respondText(404, '404 page not found\n', commonHeaders(server)));

  const health = createHealth(server, options.cacheSynced);
  for (const path of ['/healthz', '/livez', '/readyz']) {
    app.get(path, (c) => health(c.req.raw));
    app.get(`${path}/:check`, (c) => health(c.req.raw));
  }
  const version = JSON.stringify(versionDocument(options.version));
  app.get(
    '/version',
    () =>
      new Response(version, { headers: { ...commonHeaders(server), 'content-type': 'application/json' } }),
  );

  app.use(authentication(options));
  const discovery = createDiscovery(server.resources, options.advertiseAddress);
  const openapi = createOpenApi(server.resources, () => server.clock.now());
  app.all('*', (c) => {
    const info = parseRequestInfo(rawPath(c.req.raw.url));
    if (info.type === 'resource') return serveResource(c, server, authorize, info);
    return servePath(c, authorize, async (request) => discovery(request) ?? (await openapi(request)));
  });

  return {
    app,
    serviceCIDR: server.serviceCIDR,
    handlerFor: (user) => async (request) => app.fetch(request, { user }),
  };
}

/** Kubernetes' headers for every answer. */
function commonHeaders(server: ServerContext): Headers {
  return { 'audit-id': server.random.uuid(), 'cache-control': 'no-cache, private' };
}

/** The path as it came: percent-encoding tells a slash in a name from one between names. */
function rawPath(url: string): string {
  const path = URL.parse(url)?.pathname;
  if (path === undefined) throw newStatusError('BadRequest', 'the URL of the request cannot be read');
  return path;
}

function authentication(options: ApiServerOptions): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { user, peer } = c.env ?? {};
    const authorization = c.req.header('authorization');
    const known = user ?? (await options.authenticate({ authorization, peer }));
    if (!known) throw newUnauthorized();
    c.set('user', known);
    await next();
  };
}

function podNodes(server: ServerContext): PodNodeLookup {
  return async (namespace, name) => {
    const key = storageKey(podResource, namespace, name);
    const cached = server.cache.get(key)?.object;
    const stored = cached ? undefined : await server.store.get(key);
    const pod = cached ?? (stored && decodeObject(stored.value, stored.revision));
    return pod && ((pod as Pod).spec.nodeName ?? '');
  };
}

async function servePath(
  c: Context<Env>,
  authorize: Authorizer,
  find: (request: Request) => Promise<Response | undefined>,
): Promise<Response> {
  const { path, method } = c.req;
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const access: AccessRequest = { type: 'path', user: c.get('user'), verb, path };
  if (!(await authorize(access))) {
    throw newStatusError('Forbidden', `forbidden: ${refusal(access)}`);
  }
  const found = method === 'GET' || method === 'HEAD' ? await find(c.req.raw) : undefined;
  return found ?? c.notFound();
}

async function serveResource(
  c: Context<Env>,
  server: ServerContext,
  authorize: Authorizer,
  info: ResourceRequest,
): Promise<Response> {
  const request = c.req.raw;
  const { searchParams: query } = new URL(request.url);
  const watch = isTrue(query.get('watch'));
  const verb = verbOf(c.req.method, info, watch);
  if (!verb) {
    throw newStatusError(
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
    );
  }
  const { group, namespace, name } = info;
  const resource = info.subresource ? `${info.plural}/${info.subresource}` : info.plural;
  const user = c.get('user');
  const access: AccessRequest = { type: 'resource', user, verb, group, resource, namespace, name };
  if (!(await authorize(access))) throw newForbidden({ group, plural: resource }, name, refusal(access));
  const definition = server.resources.find(group, info.version, info.plural);
  if (!definition) return c.notFound();

  const scope = createScope({ server, definition, info, request, query, user, shutdown: c.env?.shutdown });
  const response = await handlerOf(c.req.method, definition, info)(scope);
  // Nobody will read the body of an answer to HEAD; a stream must not wait for it.
  if (c.req.method === 'HEAD') await response.body?.cancel();
  return response;
}

const isTrue = (value: string | null) => value !== null && value !== 'false' && value !== '0';

function createScope(base: Omit<RequestScope, 'warnings' | 'headers' | 'signal'>): RequestScope {
  const warnings: string[] = [];
  const common = commonHeaders(base.server);
  return {
    ...base,
    warnings,
    get headers() {
      return { ...common, ...warningHeader(warnings) };
    },
    get signal() {
      return base.request.signal;
    },
  };
}
