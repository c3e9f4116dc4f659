/** The API server that a command uses: chosen by the kubeconfig, called over HTTPS. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { version } from '../../base/version.ts';
import { createHttpsTransport, type Dialing, dialing } from '../../client/https-transport.ts';
import type { ResolvedContext } from '../../client/kubeconfig-connection.ts';
import { readToken } from '../../client/kubeconfig-user.ts';
import { proxyOf } from '../../client/proxy-choice.ts';
import { createRequester } from '../../client/requester.ts';
import { tracedTransport } from '../../client/traced-transport.ts';
import type { ApiRequest, ApiResponse, Transport } from '../../client/transport.ts';
import { watchEvents } from '../../client/watch-stream.ts';
import { auditIdHeader } from '../../http/audit-id.ts';
import type { Flags } from '../flags/flags.ts';
import type { Io } from '../io.ts';
import { allowedProgram } from '../kuberc/plugin-policy.ts';
import { type ApiResources, discover } from '../objects/discovery.ts';
import { traceHeaders } from '../tracing.ts';
import {
  givenNamespace,
  impersonation,
  requestTimeout,
  resolveConnection,
  withTimeout,
} from './connection.ts';
import { runCredentialPlugin } from './credential-plugin.ts';
import { credentialsProblem } from './credentials-problem.ts';
import { type DiscoveryCache, discoveryCache } from './discovery-cache.ts';
import { loginTransport, PluginLogin } from './plugin-login.ts';

export interface Cluster {
  /** Id of all requests of this command, in the logs of the cluster's components. */
  readonly requestId: string;
  /** URL of the API server; absent if requests do not go to a URL. */
  readonly server?: string;
  /** The namespace from --namespace or from the context. */
  readonly namespace: string;
  /** True if --namespace was given. */
  readonly namespaceGiven: boolean;
  /**
   * Resolves to the resources that the server serves; discovery runs at most once, or not at all if an
   * earlier command has cached its result. With `fresh`, the cache is not read.
   */
  resources(options?: { readonly fresh?: boolean }): Promise<ApiResources>;
  /** Makes later commands ask the server for its resources. */
  forgetResources?(): void;
  /** Resolves to the decoded answer; rejects with StatusError or TransportError. */
  get(path: string, accept?: string): Promise<JsonObject>;
  send(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: unknown,
    type?: string,
  ): Promise<JsonObject>;
  open(request: ApiRequest): Promise<ApiResponse>;
  /** Yields each event of a watch; ends with the server's stream, or when the caller stops reading. */
  watch(path: string, options?: WatchOptions): AsyncGenerator<WatchedEvent>;
  /** Resolves to the parameters for a request that is upgraded to a connection of its own. */
  dial(path: string): Promise<Dialing>;
  /** Number of different warnings that the server has sent. */
  warningCount?(): number;
  /** Returns an explanation why the server may have rejected this command's credentials. */
  credentialsProblem?(): string;
  close(): void;
}

export interface WatchOptions {
  readonly accept?: string;
  /** When this signal aborts, the watch rejects with the signal's reason. */
  readonly until?: AbortSignal;
}

export interface WatchedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: JsonObject;
}

const json = 'application/json';

export function connect(io: Io, flags: Flags): Cluster {
  const context = resolveConnection(io, flags);
  const requestId = io.random.uuid();
  const headers = {
    ...traceHeaders(io),
    ...impersonation(flags, context.impersonated),
    [auditIdHeader]: requestId,
  };
  const proxy = proxyOf(context.server, context.proxyUrl, io.env);
  const options = {
    ...context,
    ...freshToken(context),
    ...(proxy && { proxy }),
    headers,
    clock: io.clock,
    userAgent: `minik8s-ctl/${version()}`,
  };
  const timeout = requestTimeout(flags);
  const warnings = new Set<string>();
  const login = loginOf(context, io);
  const plain = login
    ? loginTransport(login, (credentials) => createHttpsTransport({ ...options, ...credentials }))
    : createHttpsTransport(options);
  const warned = warning(plain, io, warnings);
  const bounded = timeout === undefined ? warned : withTimeout(warned, timeout, io.clock);
  const transport = tracedTransport(interruptible(bounded, io.signal), 'all');
  return clusterOver(transport, io, {
    server: context.server,
    namespace: givenNamespace(flags) ?? context.namespace,
    namespaceGiven: givenNamespace(flags) !== undefined,
    requestId,
    dial: async (path) => dialing({ ...options, ...(await login?.current()) }, path),
    credentialsProblem: () => credentialsProblem({ ...context, ...login?.latest }, io.clock.now()),
    warningCount: () => warnings.size,
    cache: discoveryCache(io, context, flags.text('cache-dir')),
  });
}

/** Returns the login of the user's plugin; undefined if the user has none. */
function loginOf({ plugin }: ResolvedContext, io: Io): PluginLogin | undefined {
  if (!plugin) return undefined;
  const { env, signal, clock } = io;
  const policy = io.pluginPolicy?.();
  const command = policy ? allowedProgram(plugin.command, policy, env.PATH ?? '') : plugin.command;
  return new PluginLogin(() => runCredentialPlugin({ ...plugin, command }, env, signal), clock);
}

/** Returns the token as it is in its file at each request, for a command that runs longer than a token. */
const freshToken = ({ token = '', tokenFile }: ResolvedContext) =>
  tokenFile === undefined ? {} : { token: () => readToken(tokenFile, token) };

interface ClusterParts
  extends Pick<
    Cluster,
    'server' | 'namespace' | 'namespaceGiven' | 'requestId' | 'dial' | 'warningCount' | 'credentialsProblem'
  > {
  /** Cache of the resources between commands; absent for no cache. */
  readonly cache?: DiscoveryCache;
}

export function clusterOver(transport: Transport, io: Io, { cache, ...own }: ClusterParts): Cluster {
  const requester = createRequester(transport, io);
  const object = async (request: ApiRequest): Promise<JsonObject> => {
    const answer = await requester.json(request);
    if (!isRecord(answer))
      throw new Error(`${request.method} ${request.path} was not answered with a JSON object`);
    return answer;
  };
  let discovered: Promise<ApiResources> | undefined;
  let kept: Promise<ApiResources> | undefined;
  const discovery = async () => {
    const all = await discover(requester);
    cache?.write(all);
    return all;
  };
  return {
    ...own,
    resources: ({ fresh = false } = {}) => {
      if (!discovered && !fresh) {
        const known = kept ? undefined : cache?.read();
        kept ??= known && Promise.resolve(known);
        if (kept) return kept;
      }
      discovered ??= discovery();
      return discovered;
    },
    forgetResources: () => cache?.forget(),
    get: (path, accept = json) => object({ method: 'GET', path, headers: { accept } }),
    send: (method, path, body, type = json) =>
      object({
        method,
        path,
        headers: { accept: json, ...(body !== undefined && { 'content-type': type }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    open: (request) => requester.open(request),
    async *watch(path, { accept = json, until = io.signal } = {}) {
      const stop = new AbortController();
      const signal = AbortSignal.any([io.signal, until, stop.signal]);
      try {
        const { body } = await requester.open({ method: 'GET', path, headers: { accept }, signal });
        for await (const { type, object } of watchEvents(body, `GET ${path}`))
          yield { type, object: object as object as JsonObject };
      } finally {
        stop.abort(new DOMException('the watch is over', 'AbortError'));
      }
    },
    close: () => transport.close(),
  };
}

/** Ends every request when the user interrupts the command. */
function interruptible(transport: Transport, signal: AbortSignal): Transport {
  return {
    request: (request) => transport.request({ signal, ...request }),
    close: () => transport.close(),
  };
}

/** Shows each `Warning: 299 - "text"` header once, and adds its text to `shown`. */
function warning(transport: Transport, io: Io, shown: Set<string>): Transport {
  return {
    async request(request) {
      const response = await transport.request(request);
      for (const text of warningTexts(response.header('warning') ?? '')) {
        if (!shown.has(text)) io.err(`Warning: ${text}\n`);
        shown.add(text);
      }
      return response;
    },
    close: () => transport.close(),
  };
}

/** Returns the texts of a header such as `299 - "one", 299 - "two \"quoted\""` (RFC 7234, 5.5). */
export function warningTexts(header: string): string[] {
  return [...header.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replaceAll(/\\(.)/g, '$1'),
  );
}
