/**
 * Reads the body of a call. A small body is buffered, and no instance gets the call before the body is
 * complete, so that a slow or disconnected client occupies no instance. A larger body is buffered only at its
 * beginning.
 */
import type { Readable } from 'node:stream';
import { newBadRequest, newStatusError } from '../../../apimachinery/status-error.ts';
import type { Clock } from '../../../base/clock.ts';

/**
 * Maximum number of bytes of a body that is buffered until the call is made, so that it can be sent to
 * another instance.
 */
export const maxKept = 256 * 1024;

/** Timeout in milliseconds until the whole body, or more than `maxKept` bytes, have arrived. */
const timeoutMs = 60_000;

/**
 * Returns the whole body, or the same stream with nothing consumed if the body is larger than `maxKept`.
 * Rejects with a Status for a client that has disconnected or takes too long.
 */
export function beginningOf<Body extends Readable>(
  body: Body,
  clock: Clock,
  gone: AbortSignal,
): Promise<Buffer | Body> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const over = () => {
      timer.cancel();
      gone.removeEventListener('abort', leave);
      body.off('data', take).off('end', end).off('error', leave).off('close', leave);
    };
    const timer = clock.after(timeoutMs, () => {
      over();
      reject(newStatusError('Timeout', `the request body did not arrive within ${timeoutMs / 1000} s`));
    });
    const leave = () => {
      over();
      // The stream may emit more than one error.
      body.on('error', () => undefined);
      reject(newBadRequest('the request body could not be read: the caller has left'));
    };
    const take = (part: Uint8Array) => {
      parts.push(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
      size += part.byteLength;
      if (size <= maxKept) return;
      over();
      body.pause();
      body.unshift(Buffer.concat(parts));
      resolve(body);
    };
    const end = () => {
      over();
      resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
    };
    gone.addEventListener('abort', leave, { once: true });
    body.on('data', take).on('end', end).on('error', leave).on('close', leave);
    if (gone.aborted) leave();
  });
}
