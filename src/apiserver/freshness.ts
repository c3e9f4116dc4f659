/** Waiting for the watch cache to be as new as a read demands. */
import { newStatusError } from '../apimachinery/status-error.ts';
import type { ServerContext } from './server-context.ts';

/** Upstream's blockTimeout of the watch cache. */
const patience = 3000;

const tooLarge = (wanted: number, current: number) =>
  newStatusError('Timeout', `Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

/** Resolves when the cache has applied `revision`; 504 after three seconds, at once when `signal` aborts. */
export async function waitForRevision(
  server: ServerContext,
  revision: number,
  signal: AbortSignal,
): Promise<void> {
  if (server.cache.revision >= revision) return;
  const timeout = new AbortController();
  const timer = server.clock.after(patience, () => timeout.abort(tooLarge(revision, server.cache.revision)));
  try {
    await server.cache.waitUntil(revision, AbortSignal.any([timeout.signal, signal]));
  } finally {
    timer.cancel();
  }
}

/** The cache becomes at least as new as the store is now, so that a read from it is linearizable. */
export async function waitForNow(server: ServerContext, signal: AbortSignal): Promise<void> {
  await waitForRevision(server, await server.store.currentRevision(), signal);
}
