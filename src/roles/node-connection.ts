/** How the API server reaches a node's agent: HTTPS to the address in its Node object, with our own certificate. */
import https from 'node:https';
import { Readable } from 'node:stream';
import { type Node, nodeResource } from '../api/core/v1/node.ts';
import { storageKey } from '../apimachinery/resource-definition.ts';
import { newNotFound, newStatusError } from '../apimachinery/status-error.ts';
import type { NodeConnection } from '../apiserver/server-context.ts';
import { errorMessage } from '../base/log.ts';
import type { KeyAndCertificate } from '../pki/x509.ts';
import type { Cache } from '../storage/cache.ts';

export interface NodeConnectionOptions {
  readonly cache: Cache;
  /** PEM of the cluster's authority, which signed the agents' certificates. */
  readonly authority: string;
  readonly client: KeyAndCertificate;
  /** Used instead of the address in the Node object. */
  readonly agentAddress?: string;
}

/** Milliseconds until an agent that takes no connection is given up. */
const connectTimeout = 5_000;

export function createNodeConnection(options: NodeConnectionOptions): NodeConnection {
  const agent = new https.Agent({
    keepAlive: true,
    ca: options.authority,
    key: options.client.key,
    cert: options.client.certificate,
  });
  return (name, path, signal) => {
    const { host, port } = endpointOf(name, options);
    return new Promise((resolve, reject) => {
      const request = https.get({
        agent,
        host,
        port,
        path,
        servername: name,
        timeout: connectTimeout,
        signal,
      });
      request.on('socket', (socket) => {
        // The limit is for connecting; a log may be silent for as long as it likes.
        socket.once('secureConnect', () => socket.setTimeout(0));
      });
      request.on('timeout', () => request.destroy(new Error(`no connection within ${connectTimeout} ms`)));
      request.on('error', (error) => {
        reject(
          newStatusError(
            'ServiceUnavailable',
            `the agent of node ${name} at ${host}:${port} does not answer: ${errorMessage(error)}`,
          ),
        );
      });
      request.on('response', (answer) => {
        const headers = { 'content-type': answer.headers['content-type'] ?? 'text/plain' };
        const body = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
        resolve(new Response(body, { status: answer.statusCode ?? 502, headers }));
      });
    });
  };
}

function endpointOf(
  name: string,
  { cache, agentAddress }: NodeConnectionOptions,
): { host: string; port: number } {
  const node = cache.get(storageKey(nodeResource, '', name))?.object as Node | undefined;
  if (!node) throw newNotFound(nodeResource, name);
  const host = agentAddress ?? node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port;
  if (!host || !port) {
    throw newStatusError('ServiceUnavailable', `node ${name} has not said yet where its agent listens`);
  }
  return { host, port };
}
