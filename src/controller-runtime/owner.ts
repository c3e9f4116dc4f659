/** From an object to the keys of what should be reconciled for it. */
import { controllerOf, type KubeObject, type ObjectKey, objectKey } from '../apimachinery/meta.ts';

export type KeyFunction = (object: KubeObject) => readonly ObjectKey[];

/** The object itself. */
export const ownKey: KeyFunction = (object) => [objectKey(object)];

/**
 * The owner that controls the object, when it is of this kind: `watched(podResource, ownedBy('ReplicaSet'))`.
 * The owner is looked for in the object's namespace; say `clusterScoped` when the owner has none.
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
 * For `informer.addIndex(controllerIndex, byController)`: the objects that one owner controls, at `byIndex(controllerIndex,
 * controlledBy(owner))`. Those of its own namespace: whoever writes another namespace may write any uid into a reference.
 */
export const controllerIndex = 'controller';

export function byController(object: KubeObject): readonly string[] {
  const owner = controllerOf(object);
  return owner ? [controllerKey(object.metadata.namespace, owner.uid)] : [];
}

export const controlledBy = ({ metadata }: KubeObject): string =>
  controllerKey(metadata.namespace, metadata.uid);

const controllerKey = (namespace: string | undefined, uid: string) => `${namespace ?? ''}/${uid}`;
