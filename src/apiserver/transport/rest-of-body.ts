/**
 * Bodies of requests that are rejected before their body has arrived: the rest is read and discarded before
 * the answer is sent. A client may use a connection again as soon as it has sent its request and has read the
 * answer, but the Hono adapter closes the connection half a second after the answer if the request is not
 * complete by then. A POST that a Go client has sent meanwhile fails with `EOF`.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { bodyTimeoutMs, maxDrainedBytes } from '../body/body.ts';

/** The parts of a request that are used here. */
type Incoming = EventEmitter &
  Pick<IncomingMessage, 'complete' | 'destroyed' | 'headers' | 'method' | 'readableFlowing'>;

/** Returns whether more of the body will arrive that nothing reads. A reader may still wait for a first byte. */
export const isUnread = ({ complete, destroyed, method, readableFlowing }: Incoming): boolean =>
  !complete && !destroyed && readableFlowing === null && method !== 'GET' && method !== 'HEAD';

/**
 * Discards the rest of a body. Resolves to true at its end, and to false if the body is too large, does not
 * arrive in time or breaks off: the connection must not be used again then.
 */
export function discardRest(incoming: Incoming, clock: Pick<Clock, 'after'>): Promise<boolean> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxDrainedBytes) return Promise.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const late = clock.after(bodyTimeoutMs, () => resolve(false));
  let size = 0;
  incoming.on('data', (chunk: Uint8Array) => {
    size += chunk.length;
    if (size > maxDrainedBytes) resolve(false);
  });
  incoming.once('end', () => resolve(true));
  incoming.once('close', () => resolve(false));
  return promise.finally(() => late.cancel());
}
