/** Looks up the controlling owner of an object in the cache. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { apiVersionOf, storageKey } from '../../apimachinery/resource-definition.ts';
import type { ServerContext } from '../server-context.ts';

/** Returns undefined if the object has no controlling owner, or if the owner does not exist (any more). */
export function controllingOwner(
  { cache, kinds }: Pick<ServerContext, 'cache' | 'kinds'>,
  { metadata }: KubeObject,
): KubeObject | undefined {
  const reference = metadata.ownerReferences?.find(({ controller }) => controller);
  if (!reference) return undefined;
  const { apiVersion, kind, name, uid } = reference;
  const definition = kinds.all.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
  if (!definition) return undefined;
  const namespace = definition.namespaced ? (metadata.namespace ?? '') : '';
  const owner = cache.get(storageKey(definition, namespace, name))?.object;
  return owner?.metadata.uid === uid ? owner : undefined;
}
