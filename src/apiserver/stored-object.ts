/** Objects as they are kept, in the cache or in the store. */
import type { KubeObject } from '../apimachinery/meta.ts';
import { type ResourceRef, storageKey } from '../apimachinery/resource-definition.ts';
import { decodeObject, withRevision } from '../storage/codec.ts';
import type { StoredValue } from '../storage/store.ts';
import type { ServerContext } from './server-context.ts';

export interface StoredObject {
  readonly key: string;
  /** Its JSON, resourceVersion included. */
  readonly bytes: Buffer;
  readonly object: KubeObject;
}

/** Bytes and object are each made when they are asked for. */
export const storedObject = ({ key, value, revision }: StoredValue): StoredObject => ({
  key,
  get bytes() {
    return withRevision(value, revision);
  },
  get object() {
    return decodeObject(value, revision);
  },
});

/** One object by name, for what is decided besides the request's own. The cache answers first; what it does not know yet may have been made a moment ago. */
export async function findObject<T extends KubeObject>(
  server: Pick<ServerContext, 'cache' | 'store'>,
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
