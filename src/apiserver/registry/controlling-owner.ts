/** The object that an object's controller manages it for, as the cache has it. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { apiVersionOf, storageKey } from '../../apimachinery/resource-definition.ts';
import type { ServerContext } from '../server-context.ts';

/** Undefined for one that has none, or whose owner is not there (any more). */
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
