/**
 * The API over HTTPS (or plain HTTP, for `kubectl proxy` and similar): keep-alive connections, the cluster's
 * own CA, a client certificate or a bearer token. Credentials never appear in an error message.
 *
 * A half-open connection is detected in two ways. TCP keepalive ends it while no data is in transit (libuv
 * probes every second, ten times, after `keepAliveMs`). A response that does not begin within
 * `answerTimeoutMs` ends its request. A stream that has begun may be silent indefinitely; the reflector has a
 * timeout for it.
 */
import {
  type ClientRequest,
  Agent as HttpAgent,
  type AgentOptions as HttpAgentOptions,
  type IncomingMessage,
  request as requestOverHttp,
} from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, request as requestOverHttps } from 'node:https';
import type { Socket } from 'node:net';
import { checkServerIdentity, createSecureContext, type SecureContext } from 'node:tls';
import { onAbort } from '../base/abort.ts';
import { hasPlainHost, isAddress } from '../base/addresses.ts';
import type { Clock } from '../base/clock.ts';
import { type Current, latest } from '../base/current.ts';
import { everyChunk } from '../base/every-chunk.ts';
import { sparePublicAuthorities, trustPublicAuthorities } from '../base/public-authorities.ts';
import type { ApiRequest, ApiResponse, Transport } from './transport.ts';
import { TransportError, type TransportFailure } from './transport-error.ts';

/** HTTP headers; a list stands for a repeated header. */
export type Headers = Readonly<Record<string, string | string[]>>;

export interface HttpsTransportOptions {
  /** URL such as `https://10.0.0.1:6443`; its path is prepended to every request's path. */
  readonly server: string;
  /** Certificate authorities (PEM); default: the public ones. */
  readonly ca?: string | Current<string>;
  /** Client certificate (PEM); requires `key`. */
  readonly cert?: string;
  readonly key?: string;
  /** Replaces `cert` and `key` for a certificate that is renewed: later requests use new connections. */
  readonly identity?: Current<{ readonly key: string; readonly certificate: string }>;
  /** A function is called for every request, so that a rotated token is used at once. */
  readonly token?: string | (() => string);
  /** Accept any server certificate. */
  readonly insecureSkipTlsVerify?: boolean;
  /** Expected name in the server's certificate, when it differs from the host of `server`. */
  readonly tlsServerName?: string;
  /** URL of the HTTP proxy between this machine and the server. */
  readonly proxy?: string;
  readonly userAgent?: string;
  /** Headers of every request; the request's own headers follow. */
  readonly headers?: Headers;
  readonly clock: Clock;
  /** Idle time before the first keepalive probe; default 15 s. */
  readonly keepAliveMs?: number;
  /** Response timeout; default 65 s, since the API server itself times out after 60 s. */
  readonly answerTimeoutMs?: number;
}

/** Parameters for a separate connection of an upgraded request, such as a WebSocket. */
export interface Dialing {
  /** URL with `wss://`, or with `ws://` where the server uses plain HTTP. */
  readonly url: string;
  readonly headers: Headers;
  /** TLS options; empty for plain HTTP. */
  readonly tls: AgentOptions;
  /** Returns the error of such a connection, as one line that explains it. */
  failed(error: unknown): TransportError;
}

export function dialing(options: HttpsTransportOptions, path: string): Dialing {
  const server = parseServer(options.server);
  const secure = server.protocol === 'https:';
  return {
    url: `${secure ? 'wss' : 'ws'}://${server.host}${server.pathname.replace(/\/$/, '')}${path}`,
    headers: identityHeaders(options),
    tls: secure ? tlsOptions(options) : options.proxy ? agentOptions(options) : {},
    failed: (error) => translate(server, error, false, options.proxy),
  };
}

export function createHttpsTransport(options: HttpsTransportOptions): Transport {
  const server = parseServer(options.server);
  const secure = server.protocol === 'https:';
  const newAgent = () =>
    secure ? new HttpsAgent(tlsOptions(options)) : new HttpAgent(agentOptions(options));
  const start = secure ? requestOverHttps : requestOverHttp;
  let agent = newAgent();
  const retired = new Set<HttpAgent>();
  let closed = false;
  const forget = options.identity?.onChange(() => {
    retire(agent, retired);
    agent = newAgent();
  });

  return {
    request(request) {
      if (closed) {
        return Promise.reject(unreachable(server, 'the transport is closed', 'closed', { unsent: true }));
      }
      if (request.signal?.aborted) return Promise.reject(request.signal.reason);
      return new Promise((resolve, reject) => {
        const outgoing = start({
          agent,
          protocol: server.protocol,
          hostname: server.hostname.replace(/^\[(.*)\]$/, '$1'),
          port: server.port,
          method: request.method,
          path: `${server.pathname.replace(/\/$/, '')}${request.path}`,
          headers: headersOf(request, options),
        });
        exchange(outgoing, request, server, options, { resolve, reject });
      });
    },
    close() {
      closed = true;
      forget?.();
      for (const each of [agent, ...retired]) each.destroy();
    },
  };
}

/**
 * Retires an agent: active requests keep their connections; idle connections are closed, now or once they are
 * idle.
 */
function retire(agent: HttpAgent, retired: Set<HttpAgent>): void {
  for (const old of retired) if (Object.keys(old.sockets).length === 0) retired.delete(old);
  retired.add(agent);
  agent.on('free', (socket: Socket) => socket.destroy());
  for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy();
}

/** Parses the server's URL; throws an Error that explains the problem. */
export function parseServer(text: string): URL {
  if (!URL.canParse(text))
    throw new Error(`server ${JSON.stringify(text)} is not a URL: write https://host:port`);
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`server ${url.origin} is neither https nor http: write https://host:port`);
  }
  if (!hasPlainHost(text)) {
    throw new Error(
      `server ${url.origin} is written in an unusual form: write the IPv4 address as four decimal numbers`,
    );
  }
  return url;
}

const agentOptions = (options: HttpsTransportOptions): HttpAgentOptions => ({
  keepAlive: true,
  keepAliveMsecs: options.keepAliveMs ?? 15_000,
  ...(options.proxy && { proxyEnv: { http_proxy: options.proxy, https_proxy: options.proxy } }),
});

export function tlsOptions(options: HttpsTransportOptions): AgentOptions {
  if (options.ca || options.insecureSkipTlsVerify) sparePublicAuthorities();
  else trustPublicAuthorities();
  const secureContext = usableContext(options);
  return { ...tlsOptionsOf(options), ...(secureContext && { secureContext }) };
}

/**
 * Returns the context of all connections, if authority, certificate and key stay the same; it costs 2 ms.
 * Throws an Error if the key does not belong to the certificate: OpenSSL's own message names neither.
 */
function usableContext({ ca, cert, key, identity }: HttpsTransportOptions): SecureContext | undefined {
  if (!cert || !key) return undefined;
  if (typeof ca === 'string' && ca && !identity) {
    try {
      return createSecureContext({ ca, cert, key });
    } catch {
      // The check below, or the first connection, finds the cause.
    }
  }
  try {
    // Without a list, Node would read all public authorities for this check.
    createSecureContext({ cert, key, ca: [] });
    return undefined;
  } catch (cause) {
    throw new Error(
      'the client key does not belong to the client certificate, or one of the two is damaged; give the files of one user',
      { cause },
    );
  }
}

const tlsOptionsOf = (options: HttpsTransportOptions): AgentOptions => ({
  ...agentOptions(options),
  ...(options.ca && { ca: latest(options.ca) }),
  ...(options.cert && { cert: options.cert }),
  ...(options.key && { key: options.key }),
  ...(options.identity && { cert: options.identity.value.certificate, key: options.identity.value.key }),
  ...(options.tlsServerName && checkedFor(options.tlsServerName)),
  rejectUnauthorized: !options.insecureSkipTlsVerify,
  ALPNProtocols: ['http/1.1'],
});

/**
 * Returns TLS options that check for a name. SNI allows only DNS names: an address is only looked up in the
 * certificate.
 */
const checkedFor = (name: string): AgentOptions =>
  isAddress(name)
    ? { servername: '', checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate) }
    : { servername: name };

function identityHeaders(options: HttpsTransportOptions): Headers {
  const token = typeof options.token === 'function' ? options.token() : options.token;
  return {
    ...options.headers,
    ...(options.userAgent && { 'user-agent': options.userAgent }),
    ...(token && { authorization: `Bearer ${token}` }),
  };
}

export function headersOf(request: ApiRequest, options: HttpsTransportOptions): Headers {
  return {
    ...identityHeaders(options),
    ...(request.body !== undefined && { 'content-length': String(Buffer.byteLength(request.body)) }),
    ...request.headers,
  };
}

interface Settle {
  resolve(response: ApiResponse): void;
  reject(error: unknown): void;
}

function exchange(
  outgoing: ClientRequest,
  { body, signal }: ApiRequest,
  server: URL,
  options: HttpsTransportOptions,
  settle: Settle,
): void {
  const answerMs = options.answerTimeoutMs ?? 65_000;
  let unsent = true;
  const timer = options.clock.after(answerMs, () =>
    outgoing.destroy(unreachable(server, `no answer within ${answerMs / 1000} s`, 'timeout', { unsent })),
  );
  const unlink = signal ? onAbort(signal, () => outgoing.destroy()) : () => {};
  const release = () => {
    timer.cancel();
    unlink();
  };
  const failed = (error: unknown) =>
    signal?.aborted ? signal.reason : translate(server, error, unsent, options.proxy);
  const cut = (error: unknown) => (signal?.aborted ? signal.reason : brokenOff(server, error));

  // Until the server's certificate has been checked, no part of the request leaves this machine.
  outgoing.once('socket', (socket: Socket) => {
    const established = () => {
      unsent = false;
    };
    if (outgoing.reusedSocket) established();
    else socket.once(server.protocol === 'https:' ? 'secureConnect' : 'connect', established);
  });
  // The agent sets TCP keepalive only on sockets that idle in its pool; a quiet watch requires it, too.
  outgoing.setSocketKeepAlive(true, options.keepAliveMs ?? 15_000);
  outgoing.once('close', release);
  outgoing.on('error', (error) => {
    release();
    settle.reject(failed(error));
  });
  outgoing.once('response', (incoming) => {
    timer.cancel();
    settle.resolve({
      status: incoming.statusCode ?? 0,
      header: (name) => {
        const value = incoming.headers[name.toLowerCase()];
        return Array.isArray(value) ? value.join(', ') : value;
      },
      body: bodyOf(incoming, cut),
    });
  });
  outgoing.end(body);
}

async function* bodyOf(
  incoming: IncomingMessage,
  failed: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  try {
    yield* everyChunk(incoming);
  } catch (error) {
    throw failed(error);
  }
}

export const unreachable = (
  server: URL,
  why: string,
  failure: TransportFailure,
  more: ErrorOptions & { readonly unsent: boolean },
) => new TransportError(`cannot reach the API server at ${server.origin}: ${why}`, failure, more);

/**
 * Returns the error of a response that has begun. The server was reached, so the message gives no advice
 * about reaching it.
 */
export function brokenOff(server: URL, error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  const [failure, why] = explain(error);
  const text = `the API server at ${server.origin} broke off its answer: ${why}`;
  return new TransportError(text, failure, failure === 'other' ? { cause: error } : {});
}

const explained: Readonly<Record<string, readonly [TransportFailure, string]>> = {
  ECONNREFUSED: ['refused', 'connection refused; is it running?'],
  ECONNRESET: ['reset', 'the connection was lost'],
  EPIPE: ['reset', 'the connection was lost'],
  ERR_STREAM_PREMATURE_CLOSE: ['reset', 'the connection was lost'],
  ETIMEDOUT: ['timeout', 'connection timed out'],
  EHOSTUNREACH: ['other', 'no route to the host'],
  ENETUNREACH: ['other', 'no route to the network'],
  ENOTFOUND: ['other', 'the host name is unknown'],
  EAI_AGAIN: ['other', 'the host name cannot be resolved now'],
  ERR_PROXY_TUNNEL: ['other', 'the proxy does not connect to it'],
  EPROTO: ['tls', 'it does not speak TLS'],
  ERR_SSL_WRONG_VERSION_NUMBER: ['tls', 'it does not speak TLS'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['tls', 'its certificate is not signed by the given authority'],
  SELF_SIGNED_CERT_IN_CHAIN: ['tls', 'its certificate is not signed by the given authority'],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['tls', 'its certificate is not signed by the given authority'],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['tls', 'its certificate is not signed by the given authority'],
  CERT_HAS_EXPIRED: ['tls', 'its certificate has expired; check the clocks'],
  CERT_NOT_YET_VALID: ['tls', 'its certificate is not valid yet; check the clocks'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['tls', 'its certificate is not for this host name'],
};

/** Returns the error of a connection, or of a request on it, as one line that explains it. */
export function translate(server: URL, error: unknown, unsent: boolean, proxy?: string): TransportError {
  if (error instanceof TransportError) return error;
  const [failure, what] = explain(error);
  const why = proxy === undefined ? what : `${what} (through the proxy ${new URL(proxy).host})`;
  if (server.protocol === 'http:' && failure === 'reset') {
    // A retry would not help: an API server responds to plain HTTP by closing the connection.
    const hint = `the connection was lost; if the server speaks TLS, as minik8s does, write https://${server.host}`;
    return unreachable(server, hint, 'tls', { unsent });
  }
  return unreachable(server, why, failure, failure === 'other' ? { unsent, cause: error } : { unsent });
}

/** Returns the class and the explanation of a connection error, for any server. */
export function explain(error: unknown): readonly [TransportFailure, string] {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = error instanceof Error ? error.message : String(error);
  return explained[code] ?? ['other', (code || text).replaceAll('\n', ' ')];
}
