/**
 * Compacts the store's old history. Several masters may run it: compacting to a revision that is compacted
 * already has no effect.
 */
import type { Clock } from '../base/clock.ts';
import { type Failure, keepDoing } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Store } from './store.ts';

export interface CompactorOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Minimum age of history to compact, 5 minutes by default (the kube-apiserver's
   * --etcd-compaction-interval).
   */
  readonly retentionMs?: number;
}

/**
 * Number of times per retention that the revision is recorded: kept history is older than the retention by at
 * most one such step.
 */
const looks = 5;

/** Runs until the signal aborts. */
export async function runCompactor(options: CompactorOptions, signal: AbortSignal): Promise<void> {
  const { store, clock } = options;
  const log = options.log.named('compactor');
  const retentionMs = options.retentionMs ?? 5 * 60_000;
  /** Recorded revisions and their times, oldest first. */
  let seen: readonly { readonly at: number; readonly revision: number }[] = [];
  let compacted = 0;
  const onError = (error: unknown, { isNew }: Failure) => {
    if (!isNew) return;
    log.warn('the history of the store was not compacted, trying again later', {
      error: errorMessage(error),
    });
  };
  await keepDoing({ clock, signal, restMs: retentionMs / looks, onError }, async () => {
    const revision = await store.currentRevision();
    const now = clock.monotonic();
    seen = [...seen, { at: now, revision }];
    const old = seen.findLast(({ at }) => now - at >= retentionMs);
    if (!old) return;
    if (old.revision > compacted) await store.compact(old.revision);
    compacted = old.revision;
    seen = seen.filter(({ at }) => at >= old.at);
  });
}
