/** Changes that the garbage collector makes, which need no permission for the content of an object. */
import { deepEqual } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';

/**
 * Returns whether a write only changes what the garbage collector changes when owners are deleted, and what
 * changes with every write.
 */
export function changesOwnersAlone(object: KubeObject, old: KubeObject): boolean {
  const { ownerReferences, finalizers, managedFields } = old.metadata;
  const metadata = { ...object.metadata, ownerReferences, finalizers, managedFields };
  return deepEqual({ ...object, metadata }, old);
}
