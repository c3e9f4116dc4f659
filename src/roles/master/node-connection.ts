/**
 * A connection to nodes' agents: HTTPS to the address in the Node object, with the caller's own certificate,
 * which is that of an API server or of another node.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { UnderlyingDefaultSource } from 'node:stream/web';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import { newNotFound, newStatusError } from '../../apimachinery/status-error.ts';
import type { UpgradedConnection } from '../../apiserver/server-context.ts';
import { upgradedOf } from '../../apiserver/upgrade/upgraded.ts';
import { canonicalAddress } from '../../base/addresses.ts';
import { type Current, latest, onChangeOf } from '../../base/current.ts';
import { everyChunk } from '../../base/every-chunk.ts';
import { errorMessage } from '../../base/log.ts';
import type { NodeConnection } from '../../kube-apiserver/node-connection.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';
import type { CachedObject } from '../../storage/cache.ts';

export interface NodeConnectionOptions {
  /** Source of the Node objects, by their keys. */
  readonly cache: { get(key: string): Pick<CachedObject, 'object'> | undefined };
  /** PEM of the cluster's authorities, which signed the agents' certificates. */
  readonly authority: string | Current<string>;
  readonly client: Current<KeyAndCertificate>;
  /** The node of this process. Its agent listens at a different address from the one in its Node object. */
  readonly own?: { readonly node: string; readonly address: string };
  /** Timeout for connecting to an agent, in milliseconds; default 5 s. */
  readonly connectTimeout?: number;
}

const usualConnectTimeout = 5_000;

export function createNodeConnection(options: NodeConnectionOptions): NodeConnection {
  const { authority, client, connectTimeout: timeout = usualConnectTimeout } = options;
  const tls = () => ({ ca: latest(authority), key: client.value.key, cert: client.value.certificate });
  let agent = new https.Agent({ keepAlive: true, ...tls() });
  const renew = () => {
    // Idle connections of the old agent are closed by the kubelets after their idle timeout.
    agent = new https.Agent({ keepAlive: true, ...tls() });
  };
  client.onChange(renew);
  onChangeOf(authority, renew);
  const get = (name: string, path: string, signal: AbortSignal, headers: Record<string, string> = {}) =>
    request(name, endpointOf(name, options), { agent, path, headers, signal, timeout }, answerOf);
  const upgrade: NodeConnection['upgrade'] = (name, { method, path, headers }, signal) => {
    // The connection is never returned to the pool.
    const asked = { agent: false, ...tls(), method, path, headers, signal, timeout } as const;
    return request<UpgradedConnection | Response>(
      name,
      endpointOf(name, options),
      asked,
      answerOf,
      upgradedOf,
    );
  };
  const dial: NodeConnection['dial'] = (name, signal) =>
    connectTo(name, endpointOf(name, options), { ...tls(), timeout }, signal);
  return Object.assign(get, { upgrade, dial });
}

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

function request<T>(
  node: string,
  { host, port }: Endpoint,
  options: https.RequestOptions,
  onResponse: (answer: IncomingMessage) => T,
  onUpgrade?: (answer: IncomingMessage, socket: Socket, head: Buffer) => T,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const sent = https.request({ ...options, host, port, servername: node });
    sent.on('socket', (socket) => {
      // The timeout applies to connecting only; a stream may stay silent for any time.
      const connected = () => socket.setTimeout(0);
      if (sent.reusedSocket) connected();
      else socket.once('secureConnect', connected);
    });
    sent.on('timeout', () => sent.destroy(new Error(`no connection within ${options.timeout} ms`)));
    sent.on('error', (error) => {
      reject(silent(node, { host, port }, error));
    });
    sent.on('response', (answer) => resolve(onResponse(answer)));
    if (onUpgrade) {
      sent.on('upgrade', (answer, socket, head) => resolve(onUpgrade(answer, socket as Socket, head)));
    }
    sent.end();
  });
}

/** Opens a bare TLS connection, for callers that write HTTP on it themselves. */
async function connectTo(
  node: string,
  { host, port }: Endpoint,
  tls: ConnectionOptions,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const socket = connect({ ...tls, host, port, servername: node });
  socket.on('timeout', () => socket.destroy(new Error(`no connection within ${tls.timeout} ms`)));
  try {
    await once(socket, 'secureConnect', { signal });
  } catch (error) {
    socket.on('error', () => undefined);
    socket.destroy();
    throw silent(node, { host, port }, error);
  }
  socket.setTimeout(0);
  return socket;
}

const silent = (node: string, { host, port }: Endpoint, error: unknown) =>
  newStatusError(
    'ServiceUnavailable',
    `the agent of node ${node} at ${host}:${port} does not answer: ${errorMessage(error)}`,
  );

function answerOf(answer: IncomingMessage): Response {
  const headers = { 'content-type': answer.headers['content-type'] ?? 'text/plain' };
  return new Response(bodyOf(answer), { status: answer.statusCode ?? 502, headers });
}

/**
 * Returns the body of an answer, including all chunks that arrived before the connection broke. The stream
 * has no queue, since an error would drop the chunks in it.
 */
function bodyOf(answer: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = everyChunk(answer);
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      answer.destroy();
    },
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

function endpointOf(name: string, { cache, own }: NodeConnectionOptions): Endpoint {
  const node = cache.get(storageKey(nodeResource, '', name))?.object as Node | undefined;
  if (!node) throw newNotFound(nodeResource, name);
  const address = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  // A host name would be looked up by the resolver of this machine, so only an address is accepted.
  const reported = canonicalAddress(address ?? '');
  const host = own?.node === name ? own.address : reported;
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port;
  if (!host || !port) {
    throw newStatusError(
      'ServiceUnavailable',
      `node ${name} has not reported the address and port of its agent yet`,
    );
  }
  return { host, port };
}
