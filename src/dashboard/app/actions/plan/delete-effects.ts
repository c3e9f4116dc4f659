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

/** Remarks on the deletion of one object of a kind, and of several. */
const remarksByKey: Readonly<Record<string, readonly [one: string, several: string]>> = {
  nodes: [
    'Pods on the node are deleted once it has been absent for a while; its agent registers the node again as long as it runs.',
    'Pods on the nodes are deleted once these have been absent for a while; the agent of a node registers it again as long as it runs.',
  ],
  persistentvolumeclaims: [
    'The data of its volume is deleted too if the reclaim policy of the volume is Delete.',
    'The data of their volumes is deleted too if the reclaim policy of the volume is Delete.',
  ],
  persistentvolumes: [
    'The data on it stays where it is; the claim that uses it becomes Lost.',
    'The data on them stays where it is; the claims that use them become Lost.',
  ],
  secrets: [
    'Pods that mount it or read it keep what they have; new ones do not start.',
    'Pods that mount them or read them keep what they have; new ones do not start.',
  ],
  configmaps: [
    'Pods that mount it or read it keep what they have; new ones do not start.',
    'Pods that mount them or read them keep what they have; new ones do not start.',
  ],
  services: [
    'Its name and its address stop working at once.',
    'Their names and addresses stop working at once.',
  ],
};

/** Kinds whose deletion also deletes data, or objects that others created. */
const grave = new Set([
  'namespaces',
  'customresourcedefinitions.apiextensions.k8s.io',
  'persistentvolumes',
  'persistentvolumeclaims',
]);

/**
 * Returns what is deleted with objects of one kind; `objects` are those of their namespaces, or all if they
 * have none. `definedKeys` are the keys of the kinds that deleted definitions define.
 */
export function deleteEffects(
  roots: readonly Owned[],
  objects: readonly Owned[],
  definedKeys: readonly string[] = [],
): DeleteEffects {
  const key = roots[0]?.key ?? '';
  const remarks = Object.hasOwn(remarksByKey, key) ? remarksByKey[key] : undefined;
  const replaced = roots.filter(isReplaced).length;
  return {
    gone: goneWith(roots, objects, definedKeys),
    remarks: [
      ...(remarks === undefined ? [] : [remarks[roots.length === 1 ? 0 : 1]]),
      ...(replaced === 0 ? [] : [replacedText(replaced, roots.length)]),
    ],
    needsName: grave.has(key),
  };
}

/** Returns true for an object that its controller creates again, such as a Pod or a ReplicaSet. */
const isReplaced = ({ metadata }: Owned) =>
  (metadata.ownerReferences ?? []).some(({ controller }) => controller === true);

function replacedText(replaced: number, all: number): string {
  if (all === 1) return 'Its controller creates a new one in its place.';
  return `Controllers create new ones in the place of ${replaced === all ? 'all of them' : `${replaced} of them`}.`;
}

function goneWith(
  roots: readonly Owned[],
  objects: readonly Owned[],
  definedKeys: readonly string[],
): readonly Owned[] {
  if (roots[0]?.key === 'namespaces') {
    const names = new Set(roots.map(({ metadata }) => metadata.name));
    return objects.filter(({ metadata: { namespace } }) => namespace !== undefined && names.has(namespace));
  }
  if (definedKeys.length > 0) return objects.filter(({ key }) => definedKeys.includes(key));
  return deletedWith(roots, objects);
}

/** Returns `3 Pods, 1 ReplicaSet`. */
export const effectsText = (gone: readonly Owned[]): string =>
  countByKind(gone)
    .map(([kind, count]) => `${count} ${kind}${count === 1 || kind.endsWith('s') ? '' : 's'}`)
    .join(', ');
