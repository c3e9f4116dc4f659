/**
 * Which objects belong to a controller: those it owns and whose labels still match, and those that match and
 * have no owner. Follows k8s.io/kubernetes pkg/controller ControllerRefManager. The choice is pure; carrying
 * it out is a patch that the server refuses when the object changed meanwhile.
 */
import { matches, type Selector } from '../apimachinery/labels.ts';
import { controllerOf, isTerminating, type KubeObject, type OwnerReference } from '../apimachinery/meta.ts';
import { apiVersionOf, type ResourceRef } from '../apimachinery/resource-definition.ts';
import type { Client } from '../client/client.ts';
import { ifPresent } from './if-present.ts';

export interface Claims<T extends KubeObject> {
  /** Owned and matching. */
  readonly owned: readonly T[];
  /** Matching and without a controller: to be owned. */
  readonly adopt: readonly T[];
  /** Owned and no longer matching: to be let go. */
  readonly release: readonly T[];
}

/**
 * `candidates` are all objects of the owner's namespace; `adoptable` leaves out those not worth taking. What is no `member` is let
 * go like what no longer matches.
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
  for (const object of candidates) {
    const controller = controllerOf(object);
    const matching = matches(selector, object.metadata.labels) && member(object);
    if (controller?.uid === owner.metadata.uid) {
      if (matching) owned.push(object);
      else if (!isTerminating(owner) && !isTerminating(object)) release.push(object);
    } else if (
      !controller &&
      matching &&
      !isTerminating(owner) &&
      !isTerminating(object) &&
      adoptable(object)
    )
      adopt.push(object);
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
 * Adopts and releases, and resolves to everything that is owned afterwards. Before the first adoption the owner
 * is read from the server: a cache may still show one that is being deleted or has been replaced. A `finalizer` is put on with the
 * adoption, and taken off with the release.
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
  // By a patch, which is what the roles of controllers allow for what they own.
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
