/**
 * The API over HTTPS (or plain HTTP, for `kubectl proxy` and the like): keep-alive connections, the cluster's
 * own CA, a client certificate or a bearer token. Credentials never reach an error message.
 *
 * A half-open connection is noticed in two ways: TCP keepalive ends it while nothing is under way (libuv probes
 * every second, ten times, after `keepAliveMs`), and an answer that does not begin within `answerTimeoutMs` ends
 * its request. A stream that has begun may be silent for as long as it likes; watching it is the reflector's work.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { onAbort } from '../base/abort.ts';
import { hasPlainHost, isAddress } from '../base/addresses.ts';
import type { Clock } from '../base/clock.ts';
import type { Current } from '../base/current.ts';
import { everyChunk } from '../base/every-chunk.ts';
import type { ApiRequest, ApiResponse, Transport } from './transport.ts';
import { TransportError, type TransportFailure } from './transport-error.ts';

/** A list is one header several times. */
export type Headers = Readonly<Record<string, string | string[]>>;

export interface HttpsTransportOptions {
  /** Such as `https://10.0.0.1:6443`; a path is put before every request's own. */
  readonly server: string;
  /** PEM. Absent: the system's authorities. */
  readonly ca?: string;
  /** PEM, both or neither. */
  readonly cert?: string;
  readonly key?: string;
  /** Instead of cert and key, for a certificate that is renewed: requests from then on go over new connections. */
  readonly identity?: Current<{ readonly key: string; readonly certificate: string }>;
  /** A function is asked for every request, so that a rotated token is used at once. */
  readonly token?: string | (() => string);
  /** Accepts any server certificate. */
  readonly insecureSkipTlsVerify?: boolean;
  /** The name to check the server's certificate for, when it is not the host of `server`. */
  readonly tlsServerName?: string;
  readonly userAgent?: string;
  /** Sent with every request, before its own. */
  readonly headers?: Headers;
  readonly clock: Clock;
  /** Default 15 s. */
  readonly keepAliveMs?: number;
  /** Default 65 s: the API server itself gives up after 60 s. */
  readonly answerTimeoutMs?: number;
}

/** What is needed to open a separate connection for an upgraded request, such as a WebSocket. */
export interface Dialing {
  /** `wss://…`, or `ws://…` where the server speaks plain HTTP. */
  readonly url: string;
  readonly headers: Headers;
  /** Empty for plain HTTP. */
  readonly tls: https.AgentOptions;
  /** The error of such a connection, in one line that says what it means. */
  failed(error: unknown): TransportError;
}

export function dialing(options: HttpsTransportOptions, path: string): Dialing {
  const server = parseServer(options.server);
  const secure = server.protocol === 'https:';
  return {
    url: `${secure ? 'wss' : 'ws'}://${server.host}${server.pathname.replace(/\/$/, '')}${path}`,
    headers: identityHeaders(options),
    tls: secure ? tlsOptions(options) : {},
    failed: (error) => translate(server, error, false),
  };
}

export function createHttpsTransport(options: HttpsTransportOptions): Transport {
  const server = parseServer(options.server);
  const secure = server.protocol === 'https:';
  const newAgent = () =>
    secure ? new https.Agent(tlsOptions(options)) : new http.Agent(agentOptions(options));
  const start = secure ? https.request : http.request;
  let agent = newAgent();
  const retired = new Set<http.Agent>();
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

/** Requests under way keep their connections; idle connections are closed, now or once they are idle. */
function retire(agent: http.Agent, retired: Set<http.Agent>): void {
  for (const old of retired) if (Object.keys(old.sockets).length === 0) retired.delete(old);
  retired.add(agent);
  agent.on('free', (socket: Socket) => socket.destroy());
  for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy();
}

/** Throws an Error that says what is wrong with the text. */
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

const agentOptions = (options: HttpsTransportOptions): http.AgentOptions => ({
  keepAlive: true,
  keepAliveMsecs: options.keepAliveMs ?? 15_000,
});

export const tlsOptions = (options: HttpsTransportOptions): https.AgentOptions => ({
  ...agentOptions(options),
  ...(options.ca && { ca: options.ca }),
  ...(options.cert && { cert: options.cert }),
  ...(options.key && { key: options.key }),
  ...(options.identity && { cert: options.identity.value.certificate, key: options.identity.value.key }),
  ...(options.tlsServerName && checkedFor(options.tlsServerName)),
  rejectUnauthorized: !options.insecureSkipTlsVerify,
  ALPNProtocols: ['http/1.1'],
});

/** TLS asks for names alone: an address is only looked for in the certificate. */
const checkedFor = (name: string): https.AgentOptions =>
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
  outgoing: http.ClientRequest,
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
  const failed = (error: unknown) => (signal?.aborted ? signal.reason : translate(server, error, unsent));
  const cut = (error: unknown) => (signal?.aborted ? signal.reason : brokenOff(server, error));

  // Until the server's certificate has been checked, nothing of the request leaves this machine.
  outgoing.once('socket', (socket: Socket) => {
    const established = () => {
      unsent = false;
    };
    if (outgoing.reusedSocket) established();
    else socket.once(server.protocol === 'https:' ? 'secureConnect' : 'connect', established);
  });
  // The agent sets TCP keepalive only on sockets that idle in its pool; a quiet watch needs it too.
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
  incoming: http.IncomingMessage,
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
 * The error of an answer that has begun: the server was reached, so nothing about how to reach it would help.
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
  EPROTO: ['tls', 'it does not speak TLS'],
  ERR_SSL_WRONG_VERSION_NUMBER: ['tls', 'it does not speak TLS'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['tls', 'its certificate is not signed by the given authority'],
  SELF_SIGNED_CERT_IN_CHAIN: ['tls', 'its certificate is not signed by the given authority'],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['tls', 'its certificate is not signed by the given authority'],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['tls', 'its certificate is not signed by the given authority'],
  CERT_HAS_EXPIRED: ['tls', 'its certificate has expired'],
  CERT_NOT_YET_VALID: ['tls', 'its certificate is not valid yet; check the clocks'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['tls', 'its certificate is not for this host name'],
};

/** The error of a connection, or of a request on it, in one line that says what it means. */
export function translate(server: URL, error: unknown, unsent: boolean): TransportError {
  if (error instanceof TransportError) return error;
  const [failure, why] = explain(error);
  if (server.protocol === 'http:' && failure === 'reset') {
    // Trying again would not help: an API server answers plain HTTP by closing the connection.
    const hint = `the connection was lost; if the server speaks TLS, as minik8s does, write https://${server.host}`;
    return unreachable(server, hint, 'tls', { unsent });
  }
  return unreachable(server, why, failure, failure === 'other' ? { unsent, cause: error } : { unsent });
}

/** What the error of a connection to any server means. */
export function explain(error: unknown): readonly [TransportFailure, string] {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = error instanceof Error ? error.message : String(error);
  return explained[code] ?? ['other', (code || text).replaceAll('\n', ' ')];
}
