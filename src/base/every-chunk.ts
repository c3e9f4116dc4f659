/** Reads a stream that may fail. */
import type { Readable } from 'node:stream';

/**
 * Yields every received chunk, then throws the stream's error, if it failed. `for await` over a Readable
 * drops chunks that are received and not yet read when the stream fails. Destroys the stream when the loop
 * ends early. A stream must have only one reader.
 */
export async function* everyChunk(source: Readable): AsyncGenerator<Buffer> {
  let change = Promise.withResolvers<void>();
  let failure: { readonly error: unknown } | undefined;
  let hasEnded = source.readableEnded;
  const wake = () => change.resolve();
  const fail = (error: unknown) => {
    failure ??= { error };
    wake();
  };
  const end = () => {
    hasEnded = true;
    wake();
  };
  const close = () =>
    fail(source.errored ?? Object.assign(new Error('premature close'), { code: 'ECONNRESET' }));
  source.on('readable', wake);
  source.once('end', end);
  source.on('error', fail);
  source.once('close', close);
  if (source.closed) close();
  try {
    for (;;) {
      change = Promise.withResolvers();
      // A failed stream still has its buffered data.
      const chunk = source.read() as Buffer | null;
      if (chunk !== null) yield chunk;
      else if (hasEnded) return;
      else if (failure) throw failure.error;
      else await change.promise;
    }
  } finally {
    source.off('readable', wake);
    source.off('end', end);
    source.off('close', close);
    // A later error, such as that of the destruction, is ignored.
    source.destroy();
  }
}
