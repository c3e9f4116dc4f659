/**
 * The agent's own HTTPS server: logs, streams, reports. Clients need a certificate from the cluster's
 * authority or a token, and a role that allows the request.
 */

import { once } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { aborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { type Current, latest, onChangeOf } from '../../base/current.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { auditIdHeader, readAuditId } from '../../http/audit-id.ts';
import { cutAnswer } from '../../http/cut-answer.ts';
import {
  hasTooManyParameters,
  maxPassedOnHeaderBytes,
  maxQueryParameters,
} from '../../http/header-limits.ts';
import { OpenSockets } from '../../http/open-sockets.ts';
import type { ServedFiles } from '../node/node-feature.ts';
import type { ObservedPod } from '../runtime/observed-pod.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import { openLog, sendLog, sendLogMessages } from './container-logs.ts';
import { type ReportSources, reportFor } from './node-reports.ts';
import { RequestError } from './plan/log-request.ts';
import { type FileRequest, fileRequest, sendFile } from './served-files.ts';
import type { ServerCounts } from './server-counts.ts';
import { serveStream } from './streaming/serve-streams.ts';
import type { Upgrade } from './streaming/websocket.ts';

export interface KubeletTls {
  /**
   * Certificate and key in PEM. The agent listens as soon as they exist; connections after a change get the
   * new ones.
   */
  readonly identity: Current<{ readonly key: string; readonly certificate: string } | undefined>;
  /** Certificate (PEM) of the authority that signs clients' certificates. */
  readonly clientCA: string | Current<string>;
}

export interface KubeletServerOptions {
  /** Addresses of this machine, each once. */
  readonly hosts: readonly string[];
  /** Port at each address; 0 for one that is free at the first address. */
  readonly port: number;
  readonly tls: KubeletTls;
  /** Throws RequestError for a request that is not allowed. */
  readonly access: { require(request: IncomingMessage, url: URL, file?: FileRequest): Promise<void> };
  /** Files that features serve to other nodes; default none. */
  readonly servedFiles?: readonly ServedFiles[];
  readonly reports: ReportSources;
  readonly counts?: ServerCounts;
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pods: () => readonly Pod[];
  readonly observe: (uid: string) => ObservedPod;
  readonly nodeIP: string;
  /** Called with the port once the server listens at each address: useful when `port` is 0. */
  readonly onListening?: (port: number) => void;
}

/** Idle time after which a client is probed by TCP keep-alive. */
const keepAliveMs = 15_000;

/** Listens until the signal aborts, which also ends open streams. */
export async function serveKubelet(options: KubeletServerOptions, signal: AbortSignal): Promise<void> {
  const { hosts, tls } = options;
  if (!(await hasIdentity(tls, signal))) return;
  const servers = hosts.map((host) => {
    const server = agentServer(options, signal);
    return { host, server, sockets: new OpenSockets(server) };
  });
  const renew = () => {
    for (const { server } of servers) server.setSecureContext(secureContext(tls));
  };
  const forgets = [tls.identity.onChange(renew), onChangeOf(tls.clientCA, renew)];
  try {
    let port = options.port;
    for (const { host, server } of servers) {
      server.listen(port, host);
      await once(server, 'listening', { signal });
      const address = server.address();
      if (address !== null && typeof address === 'object') port = address.port;
    }
    options.onListening?.(port);
    await aborted(signal);
  } finally {
    for (const forget of forgets) forget();
    await Promise.all(servers.map(({ server, sockets }) => close(server, sockets)));
  }
}

async function close(server: Server, sockets: OpenSockets): Promise<void> {
  sockets.destroyAll();
  if (!server.listening) return;
  server.close();
  await once(server, 'close');
}

function agentServer(options: KubeletServerOptions, signal: AbortSignal): Server {
  const { tls, log } = options;
  const server = createServer(
    {
      ...secureContext(tls),
      requestCert: true,
      // A client without a certificate from the authority may have a token.
      rejectUnauthorized: false,
      maxHeaderSize: maxPassedOnHeaderBytes,
      // An upgrade request to any other path is answered as if it had no upgrade.
      shouldUpgradeCallback: ({ url = '' }) =>
        /^\/(exec|attach|portForward|connect|containerLogs)\//.test(url),
    },
    (request, response) => {
      if (log.hasDebug) logAnswer(options, request, response);
      const end = begin(options, request);
      response.once('close', end);
      answer(options, request, response, signal).catch((error) => fail(request, response, error, log));
    },
  );
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => undefined);
    socket.setKeepAlive(true, keepAliveMs);
    socket.once('close', begin(options, request));
    log.debug('a stream was requested', nameOf(request));
    upgrade(options, { request, socket, head }, signal).catch((error) => refuse(request, socket, error, log));
  });
  return server;
}

/**
 * Counts a request before its caller is identified; the returned function must be called when the connection
 * is done with it.
 */
const begin = ({ counts }: KubeletServerOptions, { method = '', url = '/' }: IncomingMessage): (() => void) =>
  counts?.begin(method, url.replace(/[?#].*$/, '')) ?? (() => {});

/** Resolves with false when the signal aborts first. */
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
  ca: latest(clientCA),
  minVersion: 'TLSv1.2',
});

async function answer(
  options: KubeletServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const url = urlOf(request);
  const file = fileRequest(options.servedFiles ?? [], url);
  await options.access.require(request, url, file);
  if (request.method !== 'GET') throw new RequestError(405, `${request.method} is not supported`);
  if (file) return sendFile(file, response, signal);
  const report = await reportFor(options.reports, url);
  if (report) {
    response.setHeader('content-type', report.type);
    return void response.end(report.body);
  }
  const log = openLog(options, url);
  if (!log) throw new RequestError(404, 'page not found');
  await sendLog(log, response, signal);
}

async function upgrade(options: KubeletServerOptions, received: Upgrade, signal: AbortSignal): Promise<void> {
  const url = urlOf(received.request);
  await options.access.require(received.request, url);
  const log = openLog(options, url);
  if (log) await sendLogMessages(log, received, signal);
  else await serveStream(options, received, signal);
}

/** Throws RequestError: 414 for a query with too many parameters, 400 for an invalid URL. */
function urlOf({ url = '/' }: IncomingMessage): URL {
  if (hasTooManyParameters(url)) {
    throw new RequestError(414, `the query has more than ${maxQueryParameters} parameters`);
  }
  try {
    const parsed = new URL(url, 'https://kubelet');
    decodeURIComponent(parsed.pathname);
    return parsed;
  } catch {
    throw new RequestError(400, 'the URL cannot be read');
  }
}

/**
 * Returns the request's fields for the log: the path without the query, because the query of an exec contains
 * its command, and the audit id that the API server logs too.
 */
function nameOf({ method, url = '', headers }: IncomingMessage) {
  return { method, path: url.split('?', 1)[0], id: readAuditId([headers[auditIdHeader]].flat()[0]) };
}

function logAnswer(
  { clock, log }: KubeletServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const began = clock.monotonic();
  response.once('close', () => {
    const ms = Math.round((clock.monotonic() - began) * 10) / 10;
    log.debug('answered a request', { ...nameOf(request), status: response.statusCode, ms });
  });
}

/** Rejects an upgrade request. After an upgrade no error can be sent on the connection. */
function refuse(request: IncomingMessage, socket: Socket, error: unknown, log: Logger): void {
  if (!(error instanceof RequestError)) {
    log.debug('a stream failed', { ...nameOf(request), error: errorMessage(error) });
    return void socket.destroy();
  }
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  fail(request, response, error, log);
}

function fail(request: IncomingMessage, response: ServerResponse, error: unknown, log: Logger): void {
  if (!(error instanceof RequestError))
    log.warn('a request failed', { ...nameOf(request), error: errorMessage(error) });
  if (response.headersSent) return void cutAnswer(response);
  response.statusCode = error instanceof RequestError ? error.code : 500;
  // The connection of an unauthenticated client is not kept.
  if (response.statusCode === 401) response.shouldKeepAlive = false;
  response.setHeader('content-type', 'text/plain');
  response.end(errorMessage(error));
}
