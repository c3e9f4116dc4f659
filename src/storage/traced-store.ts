/**
 * Returns a store that records its writes, and reads of one key, as spans of their request, by Kubernetes'
 * names.
 */
import { inChildSpan } from '../base/tracing/current-span.ts';
import type { Store } from './store.ts';

export function tracedStore(store: Store): Store {
  const traced = <T>(operation: string, key: string, work: () => Promise<T>) =>
    inChildSpan(`${operation} etcd3`, { key }, work);
  return {
    ...store,
    get: (key) => traced('Get', key, () => store.get(key)),
    create: (key, value, claims) => traced('Create', key, () => store.create(key, value, claims)),
    update: (key, value, expected, claims) =>
      traced('Update', key, () => store.update(key, value, expected, claims)),
    delete: (key, expected, claims) => traced('Delete', key, () => store.delete(key, expected, claims)),
  };
}
