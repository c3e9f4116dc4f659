/**
 * Bodies of requests that are rejected before their body has arrived: the rest is read and discarded before
 * the answer is sent. A client may use a connection again as soon as it has sent its request and has read the
 * answer, but the Hono adapter closes the connection half a second after the answer if the request is not
 * complete by then. A POST that a Go client has sent meanwhile fails with `EOF`.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { bodyTimeoutMs, maxDrainedBytes } from '../body/body.ts';

/** The parts of a request that are used here. */
type Incoming = EventEmitter &
  Pick<IncomingMessage, 'complete' | 'destroyed' | 'headers' | 'method' | 'readableFlowing'>;

/** Returns whether more of the body will arrive, and no reader is attached, not even one that still waits. */
export const isUnread = ({ complete, destroyed, method, readableFlowing }: Incoming): boolean =>
  !complete && !destroyed && readableFlowing === null && method !== 'GET' && method !== 'HEAD';

/**
 * Result for the rest of a body: `missing` means that it broke off or did not arrive in time. The connection
 * must not be used again then.
 */
type Rest = 'discarded' | 'too large' | 'missing';

/** Timeout in milliseconds after the start of a stop: requests are cut off a few seconds later. */
const stoppingMs = 1000;

/** Discards the rest of a body. When `stop` aborts, the rest must arrive within a second. */
export function discardRest(
  incoming: Incoming,
  clock: Pick<Clock, 'after'>,
  stop: AbortSignal,
): Promise<Rest> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxDrainedBytes) return Promise.resolve('too large');
  const { promise, resolve } = Promise.withResolvers<Rest>();
  const miss = () => resolve('missing');
  const timers = [clock.after(bodyTimeoutMs, miss)];
  const forget = onAbort(stop, () => timers.push(clock.after(stoppingMs, miss)));
  let size = 0;
  incoming.on('data', (chunk: Uint8Array) => {
    size += chunk.length;
    if (size > maxDrainedBytes) resolve('too large');
  });
  incoming.once('end', () => resolve('discarded'));
  incoming.once('close', miss);
  return promise.finally(() => {
    forget();
    for (const timer of timers) timer.cancel();
  });
}
