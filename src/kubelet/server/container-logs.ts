/** The log of a container as the agent's server sends it: as a body, or as WebSocket messages. */
import type { ServerResponse } from 'node:http';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Clock } from '../../base/clock.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import type { ObservedPod } from '../runtime/observed-pod.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import { logTarget, parseLogQuery, RequestError } from './plan/log-request.ts';
import { sendBody } from './streamed-body.ts';
import { webSocketLogProtocol } from './streaming/negotiate.ts';
import { acceptSender, type Upgrade } from './streaming/websocket.ts';

export interface LogSource {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly pods: () => readonly Pod[];
  readonly observe: (uid: string) => ObservedPod;
}

/**
 * Opens a log. Resolves once the log can be read; rejects with RequestError, whose code is the response's
 * status, when it cannot. The sequence ends with the container's log, or when the signal aborts; it throws
 * when the rest of the log cannot be read.
 */
export type ContainerLog = (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

/**
 * Returns the log of `/containerLogs/NAMESPACE/POD/CONTAINER`; undefined for any other path. Throws
 * RequestError when there is no such log.
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
  return async (signal) => {
    try {
      return limited(await runtime.logs(id, query, signal), query.limitBytes);
    } catch (error) {
      if (signal.aborted || !(error instanceof RuntimeError)) throw error;
      const code = error.reason === 'NotFound' ? 404 : 500;
      throw new RequestError(
        code,
        `cannot read the log of container "${container}" in pod "${name}": ${error.message}`,
      );
    }
  };
}

/** Sends the log as the response's body (see `sendBody`). Rejects with RequestError if it cannot be read. */
export const sendLog = (open: ContainerLog, response: ServerResponse, signal: AbortSignal): Promise<void> =>
  sendBody({ contentType: 'text/plain', open }, response, signal);

/**
 * Sends the log as upstream: first an empty message, then the log, in messages whose boundaries have no
 * meaning. A log that cannot be opened is rejected before the connection leaves HTTP; one that breaks off
 * ends the connection without a close frame.
 */
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
  const { socket } = upgrade;
  const over = new AbortController();
  const leave = () => over.abort();
  const stop = () => socket.destroy();
  socket.once('close', leave);
  signal.addEventListener('abort', stop, { once: true });
  const both = AbortSignal.any([signal, over.signal]);
  try {
    const chunks = await log(both);
    const { send, close } = await acceptSender(upgrade, chosen.protocol);
    const message = (bytes: Uint8Array) => {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return chosen.base64 ? buffer.toString('base64') : buffer;
    };
    try {
      await send(message(new Uint8Array()));
      for await (const chunk of chunks) await send(message(chunk));
    } catch (error) {
      if (!both.aborted) throw error;
    }
    await close();
  } finally {
    signal.removeEventListener('abort', stop);
    socket.off('close', leave);
    // A log that was opened and is no longer read must be closed.
    over.abort();
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
