/** Standard output and standard error of a process that exits: no written data may be lost. */
import type { Writable } from 'node:stream';

/**
 * Resolves when the reader has received everything that was written to `stream`, or has closed it; never
 * rejects. Once a pipe holds 64 KiB, further writes wait in the process, and `process.exit` would drop them.
 */
export function flushed(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed || stream.errored) {
      resolve();
      return;
    }
    stream.once('error', () => resolve());
    stream.once('close', resolve);
    // Writes complete in order: an empty write completes after all others.
    stream.write('', () => resolve());
  });
}

/**
 * Returns true for a write error that only means that the reader has closed the stream, such as `head` in a
 * pipe.
 */
export const isReaderGone = (error: Error): boolean =>
  'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');
