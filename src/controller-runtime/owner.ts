/** Maps an object to the keys that must be reconciled for it. */
import { controllerOf, type KubeObject, type ObjectKey, objectKey } from '../apimachinery/meta.ts';

export type KeyFunction = (object: KubeObject) => readonly ObjectKey[];

/** Returns the key of the object itself. */
export const ownKey: KeyFunction = (object) => [objectKey(object)];

/**
 * Returns the key of the controlling owner if it is of this kind: `watched(podResource,
 * ownedBy('ReplicaSet'))`. The owner is looked up in the object's namespace; set `clusterScoped` if the owner
 * has no namespace.
 */
export function ownedBy(kind: string, options: { readonly clusterScoped?: boolean } = {}): KeyFunction {
  return (object) => {
    const owner = controllerOf(object);
    if (owner?.kind !== kind) return [];
    const namespace = options.clusterScoped ? undefined : object.metadata.namespace;
    return [objectKey({ metadata: { name: owner.name, namespace } })];
  };
}

/**
 * Index of the objects that one owner controls: `informer.addIndex(controllerIndex, byController)`, read by
 * `byIndex(controllerIndex, controlledBy(owner))`. It holds only objects of the owner's namespace, because
 * clients with write access to another namespace may write any uid into a reference there.
 */
export const controllerIndex = 'controller';

export function byController(object: KubeObject): readonly string[] {
  const owner = controllerOf(object);
  return owner ? [controllerKey(object.metadata.namespace, owner.uid)] : [];
}

export const controlledBy = ({ metadata }: KubeObject): string =>
  controllerKey(metadata.namespace, metadata.uid);

const controllerKey = (namespace: string | undefined, uid: string) => `${namespace ?? ''}/${uid}`;
