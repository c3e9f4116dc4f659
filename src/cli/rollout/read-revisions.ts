/** Reads the earlier templates of a workload. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { type Revision, revisionKeeper, revisionsAmong } from '../../views/revisions.ts';
import type { Cluster } from '../connection/cluster.ts';
import { findResource, kindName } from '../objects/discovery.ts';
import { listPath, type ObjectTarget } from '../objects/object-target.ts';
import { podSelectorOf, recordsAt } from '../objects/objects.ts';

/** Resolves to the revisions, oldest first. */
export async function revisionsOf(
  cluster: Cluster,
  target: ObjectTarget,
  object: JsonObject,
): Promise<Revision[]> {
  const { kind } = target.resource;
  const keeper = revisionKeeper(kind);
  if (keeper === undefined)
    throw new Error(`no history viewer has been implemented for ${kindName(target.resource)}`);
  const resource = findResource(await cluster.resources(), keeper);
  const { namespace } = target;
  const labelSelector = podSelectorOf(object);
  const list = await cluster.get(listPath({ resource, namespace, labelSelector, fieldSelector: undefined }));
  return revisionsAmong({ ...object, kind }, recordsAt(list, 'items'));
}
