/** Allows everyone to call an object that is public. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type ResourceRef, storageKey } from '../../apimachinery/resource-definition.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import type { Cache } from '../../storage/cache.ts';

/** Authorizes `create` of the subresource `invoke` of those objects for which `isPublic` returns true. */
export const publicCalls =
  <T extends KubeObject>(
    cache: Cache,
    resource: ResourceRef<T>,
    isPublic: (object: T) => boolean,
  ): Authorizer =>
  (request) => {
    if (request.type !== 'resource' || request.verb !== 'create') return false;
    if (request.group !== resource.group || request.resource !== `${resource.plural}/invoke`) return false;
    const found = cache.get(storageKey(resource, request.namespace, request.name));
    return found !== undefined && isPublic(found.object as T);
  };
