/** Standard output and standard error of a process that ends: nothing that was written may be lost on the way. */
import type { Writable } from 'node:stream';

/**
 * Resolves when the reader has taken everything that was written to `stream`, or has gone; never rejects. Writes to a pipe
 * wait in the process once the pipe holds 64 KiB, and `process.exit` drops them.
 */
export function flushed(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed || stream.errored) {
      resolve();
      return;
    }
    stream.once('error', () => resolve());
    stream.once('close', resolve);
    // Writes end in their order. An empty one gets its turn behind the others.
    stream.write('', () => resolve());
  });
}

/** Whether a failed write only says that the reader has closed the stream, such as `head` behind a pipe. */
export const isReaderGone = (error: Error): boolean =>
  'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');
