/** Owners and what they own, by the owner references of objects. Pure. */
import type { KubeObject, ObjectMeta } from '../../../../apimachinery/meta.ts';
import { byOwner, ownersAbove } from '../../../../views/owners.ts';

export interface Owned {
  /** Key of the kind, such as `replicasets.apps`. */
  readonly key: string;
  readonly kind: string;
  readonly metadata: Pick<ObjectMeta, 'name' | 'namespace' | 'uid' | 'ownerReferences' | 'deletionTimestamp'>;
}

export interface TreeNode {
  readonly object: Owned;
  readonly children: readonly TreeNode[];
}

export const ownedOf = (key: string, { kind, metadata }: KubeObject): Owned => ({ key, kind, metadata });

const metadataOf = ({ metadata }: Owned) => metadata;

const byKindAndName = (a: Owned, b: Owned) =>
  a.kind.localeCompare(b.kind) || a.metadata.name.localeCompare(b.metadata.name, 'en', { numeric: true });

/** Returns the tree below an object; an object with several owners is only below the first of them. */
export function treeBelow(root: Owned, objects: readonly Owned[]): TreeNode {
  const owned = byOwner(objects, metadataOf);
  const seen = new Set([root.metadata.uid]);
  const grow = (object: Owned): TreeNode => {
    const children = (owned.get(object.metadata.uid) ?? []).filter(({ metadata }) => !seen.has(metadata.uid));
    for (const { metadata } of children) seen.add(metadata.uid);
    return { object, children: children.toSorted(byKindAndName).map(grow) };
  };
  return grow(root);
}

/** Returns the objects above an object, the topmost first. */
export const ownersOf = (object: Owned, objects: readonly Owned[]): readonly Owned[] =>
  ownersAbove(object, objects, metadataOf);

/**
 * Returns the objects that the garbage collector deletes after some objects: those whose owners are all
 * deleted. An object with another owner stays.
 */
export function deletedWith(roots: readonly Owned[], objects: readonly Owned[]): Owned[] {
  const owned = byOwner(objects, metadataOf);
  const gone = new Set(roots.map(({ metadata }) => metadata.uid));
  const found: Owned[] = [];
  const loses = ({ metadata }: Owned) =>
    !gone.has(metadata.uid) && (metadata.ownerReferences ?? []).every(({ uid }) => gone.has(uid));
  const queue = [...roots];
  for (let at = queue.shift(); at; at = queue.shift())
    for (const object of (owned.get(at.metadata.uid) ?? []).filter(loses)) {
      gone.add(object.metadata.uid);
      found.push(object);
      queue.push(object);
    }
  return found.sort(byKindAndName);
}

/** Counts objects by kind, the most frequent first: `[["Pod", 3], ["ReplicaSet", 1]]`. */
export function countByKind(objects: readonly Owned[]): [kind: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { kind } of objects) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}
