/**
 * What happens to one object because of its owners and its dependents (k8s.io/kubernetes
 * pkg/controller/garbagecollector). Pure: the state of each owner is looked up before.
 */
import type { KubeObject, OwnerReference } from '../apimachinery/meta.ts';
import { isTerminating } from '../apimachinery/meta.ts';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** absent: the server has no such object; waiting: it is being deleted and waits for its dependents. */
export type OwnerState = 'present' | 'waiting' | 'absent';

export interface Owner {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

export type CollectorAction =
  | { readonly type: 'none' }
  | { readonly type: 'delete'; readonly policy: 'Foreground' | 'Background' | 'Orphan' }
  /** Drop the references to these owners. */
  | { readonly type: 'dropOwners'; readonly uids: readonly string[] }
  /** The object is being deleted: its dependents lose their reference to it, then it loses the finalizer. */
  | { readonly type: 'orphanDependents' }
  /** The object is being deleted and waits: delete these dependents. */
  | { readonly type: 'deleteDependents' }
  | { readonly type: 'removeFinalizer'; readonly finalizer: string };

export const hasFinalizer = (object: KubeObject, finalizer: string) =>
  object.metadata.finalizers?.includes(finalizer) === true;

export const waitsForDependents = (object: KubeObject) =>
  isTerminating(object) && hasFinalizer(object, foregroundFinalizer);

export function planCollection(
  object: KubeObject,
  owners: readonly Owner[],
  dependents: readonly KubeObject[],
): CollectorAction {
  if (isTerminating(object)) return planDeleting(object, dependents);
  if (owners.length === 0) return { type: 'none' };
  const gone = owners.filter(({ state }) => state !== 'present').map(({ reference }) => reference.uid);
  if (gone.length === 0) return { type: 'none' };
  if (gone.length < owners.length) return { type: 'dropOwners', uids: gone };
  if (hasFinalizer(object, orphanFinalizer)) return { type: 'delete', policy: 'Orphan' };
  const owed = owners.some(({ state }) => state === 'waiting') && dependents.length > 0;
  const foreground = owed || hasFinalizer(object, foregroundFinalizer);
  return { type: 'delete', policy: foreground ? 'Foreground' : 'Background' };
}

function planDeleting(object: KubeObject, dependents: readonly KubeObject[]): CollectorAction {
  if (hasFinalizer(object, orphanFinalizer)) return { type: 'orphanDependents' };
  if (!hasFinalizer(object, foregroundFinalizer)) return { type: 'none' };
  const { uid } = object.metadata;
  const blocking = dependents.some((dependent) =>
    dependent.metadata.ownerReferences?.some(
      (owner) => owner.uid === uid && owner.blockOwnerDeletion === true,
    ),
  );
  return blocking
    ? { type: 'deleteDependents' }
    : { type: 'removeFinalizer', finalizer: foregroundFinalizer };
}
