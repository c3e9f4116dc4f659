/** Deletes the objects that prune-plan.ts names. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import { doing, inContext } from '../errors.ts';
import type { DryRun } from '../flags/flags.ts';
import { forEachReported } from '../for-each-reported.ts';
import { kindName } from '../objects/discovery.ts';
import { type CollectionTarget, listPath, type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { metadataOf, recordsAt } from '../objects/objects.ts';
import { waitUntilGone } from '../objects/removal.ts';
import type { VerbContext } from '../verb.ts';
import { type PruneRule, prunedObjects } from './prune-plan.ts';

export interface PruneSettings {
  readonly dryRun: DryRun;
  /** Options of the deletions: propagation policy and grace period. */
  readonly body: JsonObject;
  readonly wait: boolean;
  readonly timeoutMs: number | undefined;
  /** Prints an object that was deleted. */
  print(target: ObjectTarget, object: JsonObject): void;
}

interface Pruned {
  readonly target: ObjectTarget;
  readonly object: JsonObject;
}

/**
 * Deletes the objects of the collections that the rule selects. All collections are read before the first
 * deletion: if one cannot be read, the result is a rejection and nothing is deleted. A deletion that fails is
 * reported, and the other objects are still deleted; the result is then false.
 */
export async function prune(
  context: VerbContext,
  collections: readonly CollectionTarget[],
  rule: PruneRule,
  settings: PruneSettings,
): Promise<boolean> {
  const found = await membersToPrune(context, collections, rule);
  let succeeded = true;
  const report = (error: unknown) => {
    succeeded = false;
    context.report(error);
  };
  const deleted: Pruned[] = [];
  await forEachReported(
    { io: context.io, report },
    found,
    async (pruned) => {
      if (settings.dryRun !== 'client') await remove(context, pruned, settings);
      settings.print(pruned.target, pruned.object);
      deleted.push(pruned);
    },
    (error, { target }) => inContext(error, `pruning ${kindName(target.resource)}/${target.name}`),
  );
  if (settings.wait && settings.dryRun === 'none') {
    const gone = deleted.map(({ target, object }) => ({ target, uid: metadataOf(object).uid }));
    await waitUntilGone({ ...context, report }, context.cluster(), gone, settings.timeoutMs);
  }
  return succeeded;
}

/** Resolves to the objects to delete, each once: a kind may be served in several groups. */
async function membersToPrune(
  { cluster }: VerbContext,
  collections: readonly CollectionTarget[],
  rule: PruneRule,
): Promise<readonly Pruned[]> {
  const byUid = new Map<string, Pruned>();
  for (const collection of collections)
    for (const pruned of await membersOf(cluster(), collection, rule)) {
      const { uid } = metadataOf(pruned.object);
      if (!byUid.has(uid)) byUid.set(uid, pruned);
    }
  return [...byUid.values()];
}

/** Resolves to the objects of a collection that the rule selects. */
export async function membersOf(
  cluster: Cluster,
  collection: CollectionTarget,
  rule: PruneRule,
): Promise<readonly Pruned[]> {
  const { resource, namespace } = collection;
  const list = await doing(`listing ${resource.plural} for pruning`, () => cluster.get(listPath(collection)));
  return prunedObjects(collection, recordsAt(list, 'items'), rule).map((item) => ({
    target: { resource, namespace, name: metadataOf(item).name },
    // The items of a list have no kind of their own.
    object: { apiVersion: apiVersionOf(resource), kind: resource.kind, ...item },
  }));
}

/** Deletes exactly the object that was read, not a newer one with the same name. */
async function remove(
  { cluster }: VerbContext,
  { target, object }: Pruned,
  { body, dryRun }: PruneSettings,
): Promise<void> {
  const { uid } = metadataOf(object);
  try {
    await cluster().send('DELETE', targetPath(target), {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      ...body,
      preconditions: { uid },
      ...(dryRun === 'server' && { dryRun: ['All'] }),
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
