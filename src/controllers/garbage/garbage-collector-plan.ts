/**
 * Decides the next action for one object because of its owners and its dependents (k8s.io/kubernetes
 * pkg/controller/garbagecollector). Pure: the caller looks up the state of each owner.
 */
import type { KubeObject, OwnerReference } from '../../apimachinery/meta.ts';
import { isTerminating } from '../../apimachinery/meta.ts';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/**
 * State of an owner. absent: the server has no such object; waiting: it is being deleted and waits for its
 * dependents.
 */
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
  /** The object is being deleted: remove the reference from its dependents, then remove the finalizer. */
  | { readonly type: 'orphanDependents' }
  /** The object is being deleted and waits: delete these dependents. */
  | { readonly type: 'deleteDependents' }
  /** The object and these owners wait for each other: stop blocking the owners' deletion. */
  | { readonly type: 'unblockOwners'; readonly uids: readonly string[] }
  | { readonly type: 'removeFinalizer'; readonly finalizer: string };

export const hasFinalizer = (object: KubeObject, finalizer: string) =>
  object.metadata.finalizers?.includes(finalizer) === true;

export const waitsForDependents = (object: KubeObject) =>
  isTerminating(object) && hasFinalizer(object, foregroundFinalizer);

/** Returns true if the deletion of `owner` waits for this dependent when it waits for its dependents. */
const blocks = (dependent: KubeObject, owner: string) =>
  dependent.metadata.ownerReferences?.some(
    ({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true,
  ) === true;

/**
 * Returns the owners that a waiting object blocks and that, through dependents which also wait, block it: no
 * object of such a cycle would ever be deleted. Upstream guesses from the direct owners alone, while an
 * object is not being deleted yet. There, objects that were all deleted at once remain, and a chain of four
 * can lose its order.
 */
export function ownersInCycle(
  object: KubeObject,
  dependentsOf: (object: KubeObject) => readonly KubeObject[],
): readonly string[] {
  if (!waitsForDependents(object)) return [];
  const reached = new Set<string>();
  const next = [object];
  for (let owner = next.pop(); owner !== undefined; owner = next.pop()) {
    const { uid } = owner.metadata;
    const waiting = dependentsOf(owner).filter((one) => waitsForDependents(one) && blocks(one, uid));
    for (const dependent of waiting) {
      if (reached.has(dependent.metadata.uid)) continue;
      reached.add(dependent.metadata.uid);
      next.push(dependent);
    }
  }
  const owners = object.metadata.ownerReferences ?? [];
  return owners.map(({ uid }) => uid).filter((uid) => reached.has(uid) && blocks(object, uid));
}

/** Plans the action. `circle` is the result of `ownersInCycle`. */
export function planCollection(
  object: KubeObject,
  owners: readonly Owner[],
  dependents: readonly KubeObject[],
  circle: readonly string[],
): CollectorAction {
  if (isTerminating(object)) return planDeleting(object, dependents, circle);
  const gone = owners.filter(({ state }) => state !== 'present').map(({ reference }) => reference.uid);
  if (gone.length === 0) return { type: 'none' };
  if (gone.length < owners.length) return { type: 'dropOwners', uids: gone };
  if (hasFinalizer(object, orphanFinalizer)) return { type: 'delete', policy: 'Orphan' };
  const owed = owners.some(({ state }) => state === 'waiting') && dependents.length > 0;
  const foreground = owed || hasFinalizer(object, foregroundFinalizer);
  return { type: 'delete', policy: foreground ? 'Foreground' : 'Background' };
}

function planDeleting(
  object: KubeObject,
  dependents: readonly KubeObject[],
  circle: readonly string[],
): CollectorAction {
  if (hasFinalizer(object, orphanFinalizer)) return { type: 'orphanDependents' };
  if (!hasFinalizer(object, foregroundFinalizer)) return { type: 'none' };
  if (circle.length > 0) return { type: 'unblockOwners', uids: circle };
  return dependents.some((dependent) => blocks(dependent, object.metadata.uid))
    ? { type: 'deleteDependents' }
    : { type: 'removeFinalizer', finalizer: foregroundFinalizer };
}
