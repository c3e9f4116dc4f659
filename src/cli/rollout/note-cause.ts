/** Notes why a rollout stands still. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import { findResource } from '../objects/discovery.ts';
import { followAll } from '../objects/follow.ts';
import { type CollectionTarget, listPath, type ObjectTarget } from '../objects/object-target.ts';
import { podSelectorOf, recordsAt } from '../objects/objects.ts';
import { shown } from '../printers/table-writer.ts';
import type { VerbContext } from '../verb.ts';
import { ruleBook } from '../why/rule-book.ts';
import { rolloutCause, standstillCause } from './cause.ts';

/** Time in milliseconds without a change of the workload after which a rollout counts as standing still. */
const stillMs = 10_000;

/**
 * Prints the first cause why the rollout stands still, unless it is `printed`, the cause that was printed
 * before. Prints nothing if the user may not read the pods.
 */
export async function noteCause(
  { cluster, io }: VerbContext,
  { namespace }: ObjectTarget,
  object: JsonObject | undefined,
  printed?: string,
): Promise<void> {
  if (!object || io.signal.aborted) return;
  try {
    const resource = findResource(await cluster().resources(), 'pods');
    const labelSelector = podSelectorOf(object);
    const [pods, events] = await Promise.all([
      itemsIn(cluster(), { resource, namespace, labelSelector, fieldSelector: undefined }),
      podEvents(cluster(), namespace),
    ]);
    const rollout = { workload: object, pods, events, nowMs: io.clock.now() };
    const cause = rolloutCause(rollout, await ruleBook(io.features));
    if (cause !== undefined && cause !== printed) io.err(`Note: ${shown(cause)}\n`);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
  }
}

const itemsIn = async (cluster: Cluster, target: CollectionTarget, limit?: number) =>
  recordsAt(await cluster.get(listPath(target, { limit })), 'items');

/** Maximum number of events that are read. */
const maxEvents = 500;

/** Resolves to the events of pods, with the answers of probes; empty if the user may not read events. */
async function podEvents(cluster: Cluster, namespace: string): Promise<readonly JsonObject[]> {
  const resource = findResource(await cluster.resources(), 'events');
  const fieldSelector = 'involvedObject.kind=Pod';
  try {
    return await itemsIn(
      cluster,
      { resource, namespace, labelSelector: undefined, fieldSelector },
      maxEvents,
    );
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return [];
  }
}

interface StillNotes extends Disposable {
  /** Restarts the time after which the rollout counts as standing still. */
  moved(): void;
  /** Returns the cause that was printed; undefined if none was. */
  noted(): string | undefined;
}

/**
 * Prints the cause once as soon as the rollout stands still and a pod reports one, until disposed. Errors of
 * this search are dropped: they must not end the wait. `latest` returns the workload as last seen.
 */
export function noteWhenStill(
  context: VerbContext,
  target: ObjectTarget,
  latest: () => JsonObject | undefined,
): StillNotes {
  const over = new AbortController();
  let isSearching = false;
  let noted: string | undefined;
  const begin = () => {
    isSearching = true;
    const search = firstCauseOf(context, target, latest, over.signal);
    search.then(
      (cause) => {
        noted = cause;
        if (cause !== undefined) context.io.err(`Note: ${shown(cause)}\n`);
      },
      () => undefined,
    );
  };
  const { clock } = context.io;
  let timer = clock.after(stillMs, begin);
  return {
    moved() {
      if (isSearching) return;
      timer.cancel();
      timer = clock.after(stillMs, begin);
    },
    noted: () => noted,
    [Symbol.dispose]() {
      timer.cancel();
      over.abort();
    },
  };
}

/** Follows the pods until one reports a cause, and resolves to it; to undefined if the search is aborted. */
async function firstCauseOf(
  { cluster, io }: VerbContext,
  { namespace }: ObjectTarget,
  latest: () => JsonObject | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const object = latest();
  if (!object) return undefined;
  const resource = findResource(await cluster().resources(), 'pods');
  const labelSelector = podSelectorOf(object);
  const collection = { resource, namespace, labelSelector, fieldSelector: undefined };
  const options = { clock: io.clock, timeoutMs: undefined, signal };
  const book = await ruleBook(io.features);
  for await (const pods of followAll(cluster(), collection, options)) {
    const rollout = { workload: latest() ?? object, pods: [...pods.values()], nowMs: io.clock.now() };
    const cause = standstillCause(rollout, book);
    if (cause !== undefined) return cause;
  }
  return undefined;
}
