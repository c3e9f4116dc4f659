/**
 * Forgets the store's old history on behalf of an etcd that does not do so itself. Several masters may run it:
 * compacting to where it is compacted already does nothing.
 */
import { type Clock, sleep } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Store } from './store.ts';

export interface CompactorOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** History younger than this is kept, 5 minutes by default (the kube-apiserver's --etcd-compaction-interval). */
  readonly retentionMs?: number;
}

/** Runs until the signal aborts. */
export async function runCompactor(options: CompactorOptions, signal: AbortSignal): Promise<void> {
  const { store, clock } = options;
  const log = options.log.named('compactor');
  const retentionMs = options.retentionMs ?? 5 * 60_000;
  /** The revision the store had one interval ago. */
  let old: number | undefined;
  while (!signal.aborted) {
    try {
      const current = await store.currentRevision();
      if (old !== undefined) await store.compact(old);
      old = current;
    } catch (error) {
      log.warn('the history of the store was not compacted, trying again later', {
        error: errorMessage(error),
      });
    }
    await sleep(clock, retentionMs, signal).catch(() => undefined);
  }
}
