/** The agent's own HTTPS server: logs, streams, pods, health. Nobody without a certificate of the cluster gets an answer. */

import { once } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { SecureContextOptions } from 'node:tls';
import type { Pod } from '../api/core/v1/pod.ts';
import { aborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Current } from '../base/current.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { ObservedPod } from './plan/actions.ts';
import { type LogQuery, logTarget, parseLogQuery, RequestError } from './plan/log-request.ts';
import type { ContainerRuntime } from './runtime/runtime.ts';
import { serveStream } from './streaming/serve-streams.ts';
import type { Upgrade } from './streaming/websocket.ts';

export interface KubeletTls {
  /** PEM. The agent listens as soon as there is one; connections made after a change see the new one. */
  readonly identity: Current<{ readonly key: string; readonly certificate: string } | undefined>;
  /** PEM: who signs the certificates of accepted clients. */
  readonly clientCA: string;
  /** Whether a client with that common name and those organizations may ask; by default every one may. */
  readonly authorize?: (client: { readonly user: string; readonly groups: readonly string[] }) => boolean;
}

export interface KubeletServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: KubeletTls;
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pods: () => readonly Pod[];
  readonly observe: (uid: string) => ObservedPod;
  readonly nodeIP: string;
  /** Told the port once it listens: of use when `port` is 0. */
  readonly onListening?: (port: number) => void;
}

/** After so much silence an API server is asked whether it is still there. */
const keepAliveMs = 15_000;

/** Listens until the signal aborts; open streams end with it. */
export async function serveKubelet(options: KubeletServerOptions, signal: AbortSignal): Promise<void> {
  const { host, port, tls, log } = options;
  if (!(await hasIdentity(tls, signal))) return;
  const server = createServer(
    {
      ...secureContext(tls),
      requestCert: true,
      rejectUnauthorized: true,
      // Everything else is answered as if nobody had asked for another protocol.
      shouldUpgradeCallback: ({ url = '' }) => /^\/(exec|attach|portForward|connect)\//.test(url),
    },
    (request, response) => {
      answer(options, request, response, signal).catch((error) => fail(response, error, log));
    },
  );
  const forget = tls.identity.onChange(() => server.setSecureContext(secureContext(tls)));
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => undefined);
    socket.setKeepAlive(true, keepAliveMs);
    upgrade(options, { request, socket, head }, signal).catch((error) => refuse(request, socket, error, log));
  });
  server.listen(port, host);
  await once(server, 'listening', { signal });
  const address = server.address();
  if (address !== null && typeof address === 'object') options.onListening?.(address.port);
  await aborted(signal);
  forget();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

/** Resolves to false when the signal aborts first. */
async function hasIdentity({ identity }: KubeletTls, signal: AbortSignal): Promise<boolean> {
  if (identity.value) return true;
  const { promise, resolve } = Promise.withResolvers<void>();
  const forget = identity.onChange(() => resolve());
  await Promise.race([promise, aborted(signal)]);
  forget();
  return !signal.aborted;
}

const secureContext = ({ identity, clientCA }: KubeletTls): SecureContextOptions => ({
  ...(identity.value && { cert: identity.value.certificate, key: identity.value.key }),
  ca: clientCA,
  minVersion: 'TLSv1.2',
});

async function answer(
  options: KubeletServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  requireClient(options.tls, request);
  if (request.method !== 'GET') throw new RequestError(405, `${request.method} is not supported`);
  const url = new URL(request.url ?? '/', 'https://kubelet');
  const [, head, ...rest] = url.pathname.split('/').map(decodeURIComponent);
  if (head === 'healthz' && rest.length === 0) return void response.end('ok');
  if (head === 'pods' && rest.length === 0) {
    const list = { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: options.pods() };
    response.setHeader('content-type', 'application/json');
    return void response.end(JSON.stringify(list));
  }
  const [namespace, pod, container] = rest;
  if (head !== 'containerLogs' || !namespace || !pod || !container || rest.length !== 3) {
    throw new RequestError(404, 'page not found');
  }
  const query = parseLogQuery(url.searchParams, options.clock.now());
  await sendLogs(options, { namespace, pod, container }, query, response, signal);
}

async function upgrade(options: KubeletServerOptions, asked: Upgrade, signal: AbortSignal): Promise<void> {
  requireClient(options.tls, asked.request);
  await serveStream(options, asked, signal);
}

/** On a connection that has left HTTP behind an error has nobody to go to. */
function refuse(request: IncomingMessage, socket: Socket, error: unknown, log: Logger): void {
  if (!(error instanceof RequestError)) {
    log.debug('a stream broke', { path: request.url, error: errorMessage(error) });
    return void socket.destroy();
  }
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  fail(response, error, log);
}

function requireClient({ authorize }: KubeletTls, request: IncomingMessage): void {
  const socket = request.socket as import('node:tls').TLSSocket;
  const { CN, O } = socket.getPeerCertificate().subject;
  const user = [CN].flat()[0] ?? '';
  const groups = [O ?? []].flat();
  if (authorize && !authorize({ user, groups }))
    throw new RequestError(403, `${user} may not use this node's API`);
}

async function sendLogs(
  { runtime, pods, observe }: KubeletServerOptions,
  path: { readonly namespace: string; readonly pod: string; readonly container: string },
  query: LogQuery,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const pod = pods().find(
    ({ metadata }) => metadata.namespace === path.namespace && metadata.name === path.pod,
  );
  if (!pod) throw new RequestError(404, `pod "${path.pod}" not found in namespace "${path.namespace}"`);
  const { id } = logTarget(pod, observe(pod.metadata.uid), path.container, query.previous);
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const both = AbortSignal.any([signal, gone.signal]);
  response.setHeader('content-type', 'text/plain');
  // The client of a quiet container must learn that its request was accepted.
  response.flushHeaders();
  try {
    await pipeline(limited(runtime.logs(id, query, both), query.limitBytes), response);
  } catch (error) {
    if (!both.aborted) throw error;
  }
}

async function* limited(
  chunks: AsyncIterable<Uint8Array>,
  limit: number | undefined,
): AsyncIterable<Uint8Array> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  for await (const chunk of chunks) {
    yield chunk.length <= left ? chunk : chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}

function fail(response: ServerResponse, error: unknown, log: Logger): void {
  if (!(error instanceof RequestError)) log.warn('a request failed', { error: errorMessage(error) });
  if (response.headersSent) return void response.destroy();
  response.statusCode = error instanceof RequestError ? error.code : 500;
  response.setHeader('content-type', 'text/plain');
  response.end(errorMessage(error));
}
