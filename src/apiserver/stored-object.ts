/** Objects as they are stored, in the cache or in the store. */
import type { KubeObject } from '../apimachinery/meta.ts';
import { type ResourceRef, storageKey } from '../apimachinery/resource-definition.ts';
import type { Cache } from '../storage/cache.ts';
import { decodeObject, withRevision } from '../storage/codec.ts';
import type { Store, StoredValue } from '../storage/store.ts';

export interface StoredObject {
  readonly key: string;
  /** JSON of the object, with its resourceVersion. */
  readonly bytes: Buffer;
  readonly object: KubeObject;
}

/** Returns the object of a stored value. Bytes and object are derived on each access. */
export const storedObject = ({ key, value, revision }: StoredValue): StoredObject => ({
  key,
  get bytes() {
    return withRevision(value, revision);
  },
  get object() {
    return decodeObject(value, revision);
  },
});

/**
 * Returns one object by name, for decisions besides the request's own object. Reads the cache first, and the
 * store if the cache has no such object, because it may have been created a moment ago.
 */
export async function findObject<T extends KubeObject>(
  server: { readonly cache: Pick<Cache, 'get'>; readonly store: Pick<Store, 'get'> },
  ref: ResourceRef<T>,
  namespace: string,
  name: string,
): Promise<T | undefined> {
  const key = storageKey(ref, namespace, name);
  const cached = server.cache.get(key)?.object;
  if (cached) return cached as T;
  const stored = await server.store.get(key);
  return stored && (decodeObject(stored.value, stored.revision) as T);
}
