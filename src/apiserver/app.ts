/**
 * The API server as one Hono app: health and version for anyone, everything else for a known user who is
 * allowed. The same app serves HTTPS (serve.ts) and the callers in its own process (handlerFor).
 */
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { certificateSigningRequestResource } from '../api/certificates/v1/certificate-signing-request.ts';
import { remoteAddressKey } from '../api/certificates/v1/conditions.ts';
import {
  type FieldSelector,
  parseFieldSelector,
  requiredFieldValue,
} from '../apimachinery/field-selector.ts';
import { newForbidden, newStatusError, newUnauthorized } from '../apimachinery/status-error.ts';
import type { Store } from '../storage/store.ts';
import { defaultTolerations } from './admission/default-toleration-seconds.ts';
import {
  type AccessRequest,
  type Authorizer,
  discoveryAuthorizer,
  mastersAuthorizer,
  refusal,
  unionAuthorizer,
} from './authorization/authorizer.ts';
import { nodeAuthorizer } from './authorization/node-authorizer.ts';
import { bootstrapperAuthorizer, type RequesterLookup } from './authorization/node-bootstrapper.ts';
import { createDiscovery } from './discovery/discovery.ts';
import { toStatusError } from './errors.ts';
import { createHealth } from './health.ts';
import { createOpenApi } from './openapi.ts';
import type { ApiServerOptions, RequestEnv } from './options.ts';
import { parseRequestInfo, type ResourceRequest } from './request-info.ts';
import type { RequestScope } from './request-scope.ts';
import { type Headers, respondStatus, respondText, warningHeader } from './respond.ts';
import { resourceTable, type ServerContext } from './server-context.ts';
import { findObject } from './stored-object.ts';
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
  /** Calls the server in this process as a user that needs no proof, by way of its own `store` when given. */
  handlerFor(user: UserInfo, store?: Store): (request: Request) => Promise<Response>;
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
    defaultTolerations: options.defaultTolerations ?? defaultTolerations,
    nodeConnection: options.nodeConnection,
    authorize: (request) => authorize(request),
    readCertificateRequest: options.readCertificateRequest,
    mayRegister: options.mayRegister ?? (() => true),
  };
  const authorize = unionAuthorizer([
    mastersAuthorizer,
    discoveryAuthorizer,
    nodeAuthorizer(server),
    bootstrapperAuthorizer(requesters(server)),
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
    if (info.type === 'resource') {
      const own = c.env?.store ? { ...server, store: c.env.store } : server;
      return serveResource(c, own, authorize, info);
    }
    return servePath(c, authorize, async (request) => discovery(request) ?? (await openapi(request)));
  });

  return {
    app,
    serviceCIDR: server.serviceCIDR,
    handlerFor: (user, store) => async (request) => app.fetch(request, { user, ...(store && { store }) }),
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
    const { user, peer, remoteAddress } = c.env ?? {};
    const authorization = c.req.header('authorization');
    const known = user ?? (await options.authenticate({ authorization, peer }));
    if (!known) throw newUnauthorized();
    const extra = remoteAddress && { ...known.extra, [remoteAddressKey]: [remoteAddress] };
    c.set('user', extra ? { ...known, extra } : known);
    await next();
  };
}

function requesters(server: ServerContext): RequesterLookup {
  return async (name) => {
    const request = await findObject(server, certificateSigningRequestResource, '', name);
    return request && (request.spec.username ?? '');
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
  if (verb === undefined) {
    throw newStatusError(
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
    );
  }
  const { group, namespace } = info;
  const resource = info.subresource ? `${info.plural}/${info.subresource}` : info.plural;
  const user = c.get('user');
  const fieldSelector = verb === 'list' || verb === 'watch' ? selectorOf(query) : [];
  const name = info.name || (requiredFieldValue(fieldSelector, 'metadata.name') ?? '');
  const access = { type: 'resource', user, verb, group, resource, namespace, name, fieldSelector } as const;
  if (!(await authorize(access))) throw newForbidden({ group, plural: resource }, name, refusal(access));
  const definition = server.resources.find(group, info.version, info.plural);
  if (!definition) return c.notFound();

  const { shutdown, upgrade, remoteAddress, hangUp, push } = c.env ?? {};
  const connection = { shutdown, upgrade, remoteAddress, hangUp, push };
  const scope = createScope({ server, definition, info, request, query, user, ...connection });
  const response = await handlerOf(c.req.method, definition, info)(scope);
  // Nobody will read the body of an answer to HEAD; a stream must not wait for it.
  if (c.req.method === 'HEAD') await response.body?.cancel();
  return response;
}

/** What can not be read selects nothing here, and is refused when the request is served. */
function selectorOf(query: URLSearchParams): FieldSelector {
  try {
    return parseFieldSelector(query.get('fieldSelector') ?? '');
  } catch {
    return [];
  }
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
