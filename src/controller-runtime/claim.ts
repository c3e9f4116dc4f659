/**
 * Decides which objects belong to a controller: objects that it owns and whose labels still match, and
 * matching objects that have no controller. Follows k8s.io/kubernetes pkg/controller ControllerRefManager.
 * The plan is pure; it is carried out by patches, which the server rejects if the object has changed in the
 * meantime.
 */
import { matches, type Selector } from '../apimachinery/labels.ts';
import { controllerOf, isTerminating, type KubeObject, type OwnerReference } from '../apimachinery/meta.ts';
import { apiVersionOf, type ResourceRef } from '../apimachinery/resource-definition.ts';
import type { Client } from '../client/client.ts';
import { ifPresent } from './if-present.ts';

export interface Claims<T extends KubeObject> {
  /** Objects that the owner controls and that match. */
  readonly owned: readonly T[];
  /** Objects that match and have no controller; the owner adopts them. */
  readonly adopt: readonly T[];
  /** Objects that the owner controls and that no longer match; the owner releases them. */
  readonly release: readonly T[];
}

/**
 * Returns which candidates are owned, which to adopt and which to release. `candidates` are all objects of
 * the owner's namespace. `adoptable` excludes objects that are not worth adopting. Objects that are no
 * `member` are released like objects that no longer match.
 */
export function planClaims<T extends KubeObject>(
  owner: KubeObject,
  selector: Selector,
  candidates: readonly T[],
  adoptable: (object: T) => boolean = () => true,
  member: (object: T) => boolean = () => true,
): Claims<T> {
  const owned: T[] = [];
  const adopt: T[] = [];
  const release: T[] = [];
  const isMatch = (object: T) => matches(selector, object.metadata.labels) && member(object);
  const mayChange = (object: T) => !isTerminating(owner) && !isTerminating(object);
  const mayAdopt = (object: T) => isMatch(object) && mayChange(object) && adoptable(object);
  for (const object of candidates) {
    const controller = controllerOf(object);
    if (!controller && mayAdopt(object)) adopt.push(object);
    if (controller?.uid !== owner.metadata.uid) continue;
    if (isMatch(object)) owned.push(object);
    else if (mayChange(object)) release.push(object);
  }
  return { owned, adopt, release };
}

export function controllerReference(ref: ResourceRef, owner: KubeObject): OwnerReference {
  return {
    apiVersion: apiVersionOf(ref),
    kind: ref.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * Adopts and releases objects, and resolves to all objects that are owned afterwards. Before the first
 * adoption the owner is read from the server, because the cache may still show an owner that is being deleted
 * or has been replaced. Adoption adds the `finalizer`; release removes it.
 */
export async function carryOutClaims<T extends KubeObject, O extends KubeObject>(
  client: Client,
  kind: ResourceRef<T>,
  ownerKind: ResourceRef<O>,
  owner: O,
  claims: Claims<T>,
  finalizer?: string,
): Promise<readonly T[]> {
  const adopted = claims.adopt.length > 0 && (await mayAdopt(client, ownerKind, owner)) ? claims.adopt : [];
  // The roles of controllers only allow patches of the objects that controllers own.
  const write = async (
    object: T,
    change: (owners: OwnerReference[]) => OwnerReference[],
    finalizersOf: (others: string[]) => string[],
  ) => {
    const { name, namespace = '', uid, resourceVersion } = object.metadata;
    const ownerReferences = change(object.metadata.ownerReferences ?? []);
    const others = (object.metadata.finalizers ?? []).filter((one) => one !== finalizer);
    const finalizers = finalizer === undefined ? {} : { finalizers: finalizersOf(others) };
    const body = { metadata: { uid, resourceVersion, ownerReferences, ...finalizers } };
    return ifPresent(client.resource(kind).patch(name, namespace, 'merge', body));
  };
  const [taken] = await Promise.all([
    Promise.all(
      adopted.map((object) =>
        write(
          object,
          (owners) => [...owners, controllerReference(ownerKind, owner)],
          (others) => [...others, finalizer ?? ''],
        ),
      ),
    ),
    Promise.all(
      claims.release.map((object) =>
        write(
          object,
          (owners) => owners.filter((reference) => reference.uid !== owner.metadata.uid),
          (others) => others,
        ),
      ),
    ),
  ]);
  return [...claims.owned, ...taken.filter((object) => object !== undefined)];
}

async function mayAdopt<O extends KubeObject>(
  client: Client,
  kind: ResourceRef<O>,
  owner: O,
): Promise<boolean> {
  const live = await ifPresent(client.resource(kind).get(owner.metadata.name, owner.metadata.namespace));
  return live !== undefined && live.metadata.uid === owner.metadata.uid && !isTerminating(live);
}
