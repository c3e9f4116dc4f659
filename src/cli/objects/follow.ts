/** Watched objects: their current state, then the state after every change. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isExpired } from '../../apimachinery/status-error.ts';
import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster, WatchedEvent } from '../connection/cluster.ts';
import { type CollectionTarget, collectionOf, listPath, type ObjectTarget } from './object-target.ts';
import { metadataOf, recordsAt, textAt } from './objects.ts';
import { WatchPause } from './watch-pause.ts';

export interface FollowOptions {
  readonly clock: Clock;
  /** Timeout in milliseconds; absent or 0 for no limit. */
  readonly timeoutMs: number | undefined;
  /** Ends the iteration like the timeout. */
  readonly signal?: AbortSignal;
}

/** Yields the object, or undefined if it does not exist, now and after every change, until the timeout. */
export async function* follow(
  cluster: Cluster,
  target: ObjectTarget,
  options: FollowOptions,
): AsyncGenerator<JsonObject | undefined> {
  for await (const objects of followAll(cluster, collectionOf(target), options))
    yield objects.values().next().value;
}

/**
 * Yields the objects of a collection by uid, now and after every change, until the timeout. Every value is
 * the same map, which is modified. A watch that the server ends is started again.
 */
export async function* followAll(
  cluster: Cluster,
  collection: CollectionTarget,
  { clock, timeoutMs, signal }: FollowOptions,
): AsyncGenerator<ReadonlyMap<string, JsonObject>> {
  // The timeout uses the client's clock, since the server may have stopped answering.
  const over = new AbortController();
  const timer = timeoutMs ? clock.after(timeoutMs, () => over.abort()) : undefined;
  const unlink = signal && onAbort(signal, () => over.abort());
  try {
    yield* followUntil(cluster, collection, over.signal, new WatchPause(clock));
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    timer?.cancel();
    unlink?.();
  }
}

async function* followUntil(
  cluster: Cluster,
  collection: CollectionTarget,
  over: AbortSignal,
  pause: WatchPause,
): AsyncGenerator<ReadonlyMap<string, JsonObject>> {
  const objects = new Map<string, JsonObject>();
  let resourceVersion = '';
  while (!over.aborted) {
    if (!resourceVersion) {
      const list = await cluster.get(listPath(collection));
      replaceAll(objects, recordsAt(list, 'items'));
      yield objects;
      resourceVersion = textAt(list, 'metadata', 'resourceVersion');
    }
    const path = listPath(collection, { watch: 1, allowWatchBookmarks: true, resourceVersion });
    pause.begin();
    resourceVersion = yield* watchOnce(cluster, path, objects, { over, pause, since: resourceVersion });
    await pause.end(over);
  }
}

interface OneWatch {
  readonly over: AbortSignal;
  readonly pause: WatchPause;
  /** The resourceVersion after which it begins. */
  readonly since: string;
}

/**
 * Yields the objects after every change of one watch. Returns the resourceVersion of the last event; empty if
 * it has expired, so that the objects must be listed again.
 */
async function* watchOnce(
  cluster: Cluster,
  path: string,
  objects: Map<string, JsonObject>,
  { over, pause, since }: OneWatch,
): AsyncGenerator<ReadonlyMap<string, JsonObject>, string> {
  let resourceVersion = since;
  try {
    for await (const event of cluster.watch(path, { until: over })) {
      pause.event();
      resourceVersion = metadataOf(event.object).resourceVersion;
      if (apply(objects, event)) yield objects;
    }
    return resourceVersion;
  } catch (error) {
    if (!isExpired(error)) throw error;
    return '';
  }
}

function replaceAll(objects: Map<string, JsonObject>, items: readonly JsonObject[]): void {
  objects.clear();
  for (const item of items) objects.set(metadataOf(item).uid, item);
}

/** Applies an event; returns false for a bookmark, which changes no object. */
function apply(objects: Map<string, JsonObject>, { type, object }: WatchedEvent): boolean {
  const { uid } = metadataOf(object);
  if (type === 'DELETED') objects.delete(uid);
  else if (type !== 'BOOKMARK') objects.set(uid, object);
  return type !== 'BOOKMARK';
}
