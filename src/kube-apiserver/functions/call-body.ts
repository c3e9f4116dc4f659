/**
 * The body of a call as it comes from its caller. What is small is kept, and no instance has the call before all of it is there: a
 * caller who sends slowly, or breaks off, holds no instance. Of what is larger the beginning is.
 */
import type { Readable } from 'node:stream';
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';
import type { Clock } from '../../base/clock.ts';

/** Bytes of a body that is kept until the call is made, so that it can be given to another instance. */
export const mostKept = 256 * 1024;

/** Milliseconds a caller gets to send that much. */
const patienceMs = 60_000;

/**
 * All of it, or the same stream with all of it still to be read where it is larger than `mostKept`. Rejects with a Status for a
 * caller who has left, or takes too long.
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
    const timer = clock.after(patienceMs, () => {
      over();
      reject(newStatusError('Timeout', `the request body did not arrive within ${patienceMs / 1000} s`));
    });
    const leave = () => {
      over();
      // It may say more than once that it has failed.
      body.on('error', () => undefined);
      reject(newBadRequest('the request body could not be read: the caller has left'));
    };
    const take = (part: Uint8Array) => {
      parts.push(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
      size += part.byteLength;
      if (size <= mostKept) return;
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
