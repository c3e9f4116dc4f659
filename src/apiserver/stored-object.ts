/** One object by name, for decisions that need another object than the request's. */
import type { KubeObject } from '../apimachinery/meta.ts';
import { type ResourceRef, storageKey } from '../apimachinery/resource-definition.ts';
import { decodeObject } from '../storage/codec.ts';
import type { ServerContext } from './server-context.ts';

/** The cache answers first; what it does not know yet may have been made a moment ago. */
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
