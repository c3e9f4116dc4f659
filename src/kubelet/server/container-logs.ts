/** The log of a container as the agent's server sends it: as a body, or as messages of a WebSocket. */
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Pod } from '../../api/core/v1/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { ObservedPod } from '../runtime/observed-pod.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import { logTarget, parseLogQuery, RequestError } from './plan/log-request.ts';
import { webSocketLogProtocol } from './streaming/negotiate.ts';
import { acceptSender, type Upgrade } from './streaming/websocket.ts';

export interface LogSource {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly pods: () => readonly Pod[];
  readonly observe: (uid: string) => ObservedPod;
}

/** Ends when the container's log does, or the signal aborts. */
export type ContainerLog = (signal: AbortSignal) => AsyncIterable<Uint8Array>;

/**
 * The log that `/containerLogs/NAMESPACE/POD/CONTAINER` names; undefined for any other path. Throws RequestError when
 * there is none.
 */
export function openLog(
  { runtime, clock, pods, observe }: LogSource,
  { pathname, searchParams }: URL,
): ContainerLog | undefined {
  const [, head, namespace, name, container, ...more] = pathname.split('/').map(decodeURIComponent);
  if (head !== 'containerLogs' || !namespace || !name || !container || more.length > 0) return undefined;
  const query = parseLogQuery(searchParams, clock.now());
  const pod = pods().find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (!pod) throw new RequestError(404, `pod "${name}" not found in namespace "${namespace}"`);
  const { id } = logTarget(pod, observe(pod.metadata.uid), container, query.previous);
  return (signal) => limited(runtime.logs(id, query, signal), query.limitBytes);
}

export async function sendLog(
  log: ContainerLog,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const both = AbortSignal.any([signal, gone.signal]);
  response.setHeader('content-type', 'text/plain');
  // The client of a quiet container must learn that its request was accepted.
  response.flushHeaders();
  try {
    await pipeline(log(both), response);
  } catch (error) {
    if (!both.aborted) throw error;
  }
}

/** As upstream: an empty message first, then the log in messages that mean nothing by themselves. */
export async function sendLogMessages(
  log: ContainerLog,
  upgrade: Upgrade,
  signal: AbortSignal,
): Promise<void> {
  const { headers } = upgrade.request;
  const offered = headers['sec-websocket-protocol'];
  const chosen = headers.upgrade?.toLowerCase() === 'websocket' ? webSocketLogProtocol(offered) : undefined;
  if (!chosen) {
    throw new RequestError(400, `none of the client's protocols is supported: ${offered || headers.upgrade}`);
  }
  const stop = () => upgrade.socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const { send, gone, close } = await acceptSender(upgrade, chosen.protocol);
    const message = (bytes: Uint8Array) => {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return chosen.base64 ? buffer.toString('base64') : buffer;
    };
    const both = AbortSignal.any([signal, gone]);
    try {
      await send(message(new Uint8Array()));
      for await (const chunk of log(both)) await send(message(chunk));
    } catch (error) {
      if (!both.aborted) throw error;
    }
    await close();
  } finally {
    signal.removeEventListener('abort', stop);
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
