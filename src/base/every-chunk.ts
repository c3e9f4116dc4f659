/** Reading a stream that may fail. */
import type { Readable } from 'node:stream';

/**
 * Yields every chunk that came, then throws the stream's error, if it failed. Read by `for await`, a Readable
 * drops what has come and is not read yet when it fails. Destroys the stream when it is left early. A stream
 * must be read in one way alone.
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
      // A stream that has failed still has what it had buffered.
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
    // An error that comes later, such as of the destruction, concerns nobody.
    source.destroy();
  }
}
