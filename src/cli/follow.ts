/** One object, watched: as it is now, then after every change. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { isExpired } from '../apimachinery/status-error.ts';
import type { Clock } from '../base/clock.ts';
import type { Cluster } from './cluster.ts';
import { metadataOf, recordsAt, textAt } from './objects.ts';
import { collectionOf, listPath, type ObjectTarget } from './targets.ts';

export interface FollowOptions {
  readonly clock: Clock;
  /** Absent or 0: without end. */
  readonly timeoutMs: number | undefined;
}

/**
 * Yields the object, or undefined when there is none, now and after every change, until the time is over. A watch that
 * the server ends is begun anew.
 */
export async function* follow(
  cluster: Cluster,
  target: ObjectTarget,
  { clock, timeoutMs }: FollowOptions,
): AsyncGenerator<JsonObject | undefined> {
  const collection = collectionOf(target);
  const deadline = timeoutMs ? clock.now() + timeoutMs : Number.POSITIVE_INFINITY;
  let resourceVersion = '';
  do {
    if (!resourceVersion) {
      const list = await cluster.get(listPath(collection));
      yield recordsAt(list, 'items')[0];
      resourceVersion = textAt(list, 'metadata', 'resourceVersion');
    }
    const timeoutSeconds = Number.isFinite(deadline)
      ? Math.max(1, Math.ceil((deadline - clock.now()) / 1000))
      : undefined;
    const path = listPath(collection, {
      watch: 1,
      allowWatchBookmarks: true,
      resourceVersion,
      timeoutSeconds,
    });
    try {
      for await (const { type, object } of cluster.watch(path)) {
        resourceVersion = metadataOf(object).resourceVersion;
        if (type === 'DELETED') yield undefined;
        else if (type !== 'BOOKMARK') yield object;
      }
    } catch (error) {
      if (!isExpired(error)) throw error;
      resourceVersion = '';
    }
  } while (clock.now() < deadline);
}
