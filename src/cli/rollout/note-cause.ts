/** Notes why a rollout stands still. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import { findResource } from '../objects/discovery.ts';
import { followAll } from '../objects/follow.ts';
import { listPath, type ObjectTarget } from '../objects/object-target.ts';
import { podSelectorOf, recordsAt } from '../objects/objects.ts';
import { shown } from '../printers/table-writer.ts';
import type { VerbContext } from '../verb.ts';
import { rolloutCause, standstillCause } from './cause.ts';

/** Time without a change of the workload after which a rollout stands still, in milliseconds. */
const stillMs = 10_000;

/** Prints the first cause why the rollout stands still, if the user may read the pods. */
export async function noteCause(
  { cluster, io }: VerbContext,
  { namespace }: ObjectTarget,
  object: JsonObject | undefined,
): Promise<void> {
  if (!object || io.signal.aborted) return;
  try {
    const resource = findResource(await cluster().resources(), 'pods');
    const labelSelector = podSelectorOf(object);
    const list = await cluster().get(
      listPath({ resource, namespace, labelSelector, fieldSelector: undefined }),
    );
    const cause = rolloutCause(object, recordsAt(list, 'items'));
    if (cause !== undefined) io.err(`Note: ${shown(cause)}\n`);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
  }
}

interface StillNotes extends Disposable {
  /** Restarts the time after which the rollout stands still. */
  moved(): void;
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
  const begin = () => {
    isSearching = true;
    noteFirstCause(context, target, latest, over.signal).catch(() => undefined);
  };
  const { clock } = context.io;
  let timer = clock.after(stillMs, begin);
  return {
    moved() {
      if (isSearching) return;
      timer.cancel();
      timer = clock.after(stillMs, begin);
    },
    [Symbol.dispose]() {
      timer.cancel();
      over.abort();
    },
  };
}

/** Follows the pods until one reports a cause, and prints it. */
async function noteFirstCause(
  { cluster, io }: VerbContext,
  { namespace }: ObjectTarget,
  latest: () => JsonObject | undefined,
  signal: AbortSignal,
): Promise<void> {
  const object = latest();
  if (!object) return;
  const resource = findResource(await cluster().resources(), 'pods');
  const labelSelector = podSelectorOf(object);
  const collection = { resource, namespace, labelSelector, fieldSelector: undefined };
  const options = { clock: io.clock, timeoutMs: undefined, signal };
  for await (const pods of followAll(cluster(), collection, options)) {
    const cause = standstillCause(latest() ?? object, [...pods.values()]);
    if (cause === undefined) continue;
    io.err(`Note: ${shown(cause)}\n`);
    return;
  }
}
