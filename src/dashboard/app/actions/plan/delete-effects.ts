/** Consequences of the deletion of an object, in words. Pure. */
import { countByKind, deletedWith, type Owned } from '../../cluster/plan/owner-tree.ts';

export interface DeleteEffects {
  /** Objects of all kinds that are deleted too. */
  readonly gone: readonly Owned[];
  /** Sentences on what else happens. */
  readonly remarks: readonly string[];
  /** True if the user has to type the name, because much is deleted, or data that cannot be restored. */
  readonly needsName: boolean;
}

const remarksByKey: Readonly<Record<string, string>> = {
  nodes:
    'Pods on the node are deleted once it has been absent for a while; its agent registers the node again as long as it runs.',
  persistentvolumeclaims:
    'The data of its volume is deleted too if the reclaim policy of the volume is Delete.',
  persistentvolumes: 'The data on it stays where it is; the claim that uses it becomes Lost.',
  secrets: 'Pods that mount it or read it keep what they have; new ones do not start.',
  configmaps: 'Pods that mount it or read it keep what they have; new ones do not start.',
  services: 'Its name and its address stop working at once.',
};

/** Kinds whose deletion also deletes data, or objects that others created. */
const grave = new Set([
  'namespaces',
  'customresourcedefinitions.apiextensions.k8s.io',
  'persistentvolumes',
  'persistentvolumeclaims',
]);

/** Returns what is deleted with an object; `objects` are those of its namespace, or all if it has none. */
export function deleteEffects(root: Owned, objects: readonly Owned[], definedKey?: string): DeleteEffects {
  const gone = goneWith(root, objects, definedKey);
  const remark = Object.hasOwn(remarksByKey, root.key) ? remarksByKey[root.key] : undefined;
  return {
    gone,
    remarks: [
      ...(remark === undefined ? [] : [remark]),
      ...(isReplaced(root) ? ['Its controller creates a new one in its place.'] : []),
    ],
    needsName: grave.has(root.key),
  };
}

/** Returns true for an object that its controller creates again, such as a Pod or a ReplicaSet. */
const isReplaced = ({ metadata }: Owned) =>
  (metadata.ownerReferences ?? []).some(({ controller }) => controller === true);

function goneWith(root: Owned, objects: readonly Owned[], definedKey: string | undefined): readonly Owned[] {
  if (root.key === 'namespaces')
    return objects.filter(({ metadata }) => metadata.namespace === root.metadata.name);
  if (definedKey !== undefined) return objects.filter(({ key }) => key === definedKey);
  return deletedWith(root, objects);
}

/** Returns `3 Pods, 1 ReplicaSet`. */
export const effectsText = (gone: readonly Owned[]): string =>
  countByKind(gone)
    .map(([kind, count]) => `${count} ${kind}${count === 1 || kind.endsWith('s') ? '' : 's'}`)
    .join(', ');
