/**
 * Deletes objects that have lost their owners, and completes deletions that wait for dependents. Covers every
 * kind except Events, including kinds that are added later. Safety: an owner that the cache does not show is
 * looked up on the server, and every deletion has the version on which it was decided as a precondition, so
 * that a lagging cache never causes a wrong deletion.
 */

import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { type ExtensionKind, noExtensionKinds, supports } from '../../apimachinery/extension-kinds.ts';
import type { Kinds } from '../../apimachinery/kind-set.ts';
import {
  isTerminating,
  type KubeObject,
  type ObjectKey,
  type OwnerReference,
  objectKey,
} from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { type PackedKey, packKey, unpackKey } from '../../base/packed-key.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { doAll } from '../../controller-runtime/settle-all.ts';
import {
  type Owner,
  type OwnerState,
  orphanFinalizer,
  ownersInCycle,
  planCollection,
  waitsForDependents,
} from './garbage-collector-plan.ts';

export const garbageCollectorRights: AccountRights = {
  kubernetes: [['get list watch update patch delete', '*', '*'], writeEvents],
};

/** Index of objects by the uids of their owners. */
const byOwner = 'garbage-collector.ownerUid';

interface Kind {
  readonly ref: ResourceRef;
  readonly lister: Lister<KubeObject>;
}

interface Item {
  readonly kind: Kind;
  readonly object: KubeObject;
}

/** Key of an object. It contains the uid, which after a deletion is the only link to the dependents. */
type GraphKey = PackedKey<[kindName: string, uid: string, at: ObjectKey]>;

/**
 * Owners looked up on the server during one reconcile. The key has the kind and name besides the uid, because
 * a wrong reference may combine the uid of an owner with another kind or name.
 */
type Lookups = Map<GraphKey, Promise<OwnerState>>;

export const garbageCollector = (context: ControllerContext): ControllerDefinition =>
  new GarbageCollector(context).definition();

class GarbageCollector {
  readonly #context: ControllerContext;
  readonly #graph: FollowedKinds;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#graph = followKinds(context);
  }

  definition(): ControllerDefinition {
    return {
      name: 'garbage-collector',
      workers: 8,
      watches: [],
      watchOf: (ref) => (isCollected(ref) ? watched(ref, (object) => this.#keysOf(ref, object)) : undefined),
      watchOfExtension: (ref) =>
        isFollowed(ref) ? watched(ref, (object) => this.#keysOf(ref, object)) : undefined,
      reconcile: (key) => this.#reconcile(key),
    };
  }

  /** Returns all objects with a reference to the uid, even if its kind, name or namespace is wrong. */
  #referringTo(uid: string): Item[] {
    return [...this.#graph.kinds().values()].flatMap((kind) =>
      kind.lister.byIndex(byOwner, uid).map((object) => ({ kind, object })),
    );
  }

  /**
   * Returns the dependents of an object. An object in a namespace owns nothing outside of it, so that clients
   * with write access to another namespace cannot block a deletion here.
   */
  #dependentsOf({ metadata: { uid, namespace } }: KubeObject): Item[] {
    return this.#referringTo(uid).filter(
      ({ object }) => !namespace || object.metadata.namespace === namespace,
    );
  }

  async #reconcile(key: ObjectKey): Promise<undefined> {
    const [name, uid, at] = unpackKey(key as GraphKey);
    const kind = this.#graph.kinds().get(name);
    if (!kind) return;
    const object = kind.lister.get(at);
    if (object?.metadata.uid === uid) await this.#collect({ kind, object }, new Map());
    else await this.#collectAll(this.#referringTo(uid));
  }

  /** Collects every item, even if some fail. Rejects with the first failure. */
  async #collectAll(items: readonly Item[]): Promise<void> {
    const { clock } = this.#context;
    const lookups: Lookups = new Map();
    await doAll(clock, items, (item) => this.#collect(item, lookups));
  }

  async #collect(item: Item, lookups: Lookups): Promise<void> {
    const { log, clock } = this.#context;
    const { object } = item;
    const references = object.metadata.ownerReferences ?? [];
    if (references.length === 0 && !isTerminating(object)) return;
    const owners = await Promise.all(references.map((reference) => this.#lookUp(object, reference, lookups)));
    const dependents = this.#dependentsOf(object);
    const action = planCollection(
      object,
      owners,
      dependents.map((dependent) => dependent.object),
      ownersInCycle(object, (one) => this.#dependentsOf(one).map((dependent) => dependent.object)),
    );
    switch (action.type) {
      case 'none':
        return;
      case 'delete':
        log.debug('deleting an object without owners', {
          kind: item.kind.ref.kind,
          object: objectKey(object),
        });
        return this.#remove(item, action.policy);
      case 'dropOwners':
        return this.#dropOwners(item, action.uids);
      case 'deleteDependents':
        return this.#collectAll(dependents.filter((dependent) => !isTerminating(dependent.object)));
      case 'unblockOwners':
        return this.#unblockOwners(item, action.uids);
      case 'orphanDependents':
        await doAll(clock, dependents, (dependent) => this.#dropOwners(dependent, [object.metadata.uid]));
        return this.#removeFinalizer(item, orphanFinalizer);
      case 'removeFinalizer':
        return this.#removeFinalizer(item, action.finalizer);
    }
  }

  async #lookUp(dependent: KubeObject, reference: OwnerReference, lookups: Lookups): Promise<Owner> {
    const kind = this.#graph.kinds().get(`${reference.kind}.${groupOf(reference.apiVersion)}`);
    const { namespace } = dependent.metadata;
    // If the kind is unknown, or a cluster-wide object names a namespaced owner, the lookup proves nothing.
    if (!kind || (kind.ref.namespaced && !namespace)) return { reference, state: 'present' };
    const at = kind.ref.namespaced ? `${namespace}/${reference.name}` : reference.name;
    const cached = kind.lister.get(at);
    if (cached?.metadata.uid === reference.uid) return { reference, state: stateOf(cached) };
    const place = packKey(kindName(kind.ref), reference.uid, at);
    const lookup = lookups.get(place) ?? this.#lookUpOnServer(kind, reference, namespace);
    lookups.set(place, lookup);
    return { reference, state: await lookup };
  }

  async #lookUpOnServer(
    kind: Kind,
    reference: OwnerReference,
    namespace: string | undefined,
  ): Promise<OwnerState> {
    const { client } = this.#context;
    const at = kind.ref.namespaced ? namespace : undefined;
    const live = await ifPresent(client.resource(kind.ref).get(reference.name, at));
    return live?.metadata.uid === reference.uid ? stateOf(live) : 'absent';
  }

  async #remove({ kind, object }: Item, propagationPolicy: 'Foreground' | 'Background' | 'Orphan') {
    const { client } = this.#context;
    const { name, namespace, uid, resourceVersion } = object.metadata;
    await ifPresent(
      client
        .resource(kind.ref)
        .delete(name, namespace, { propagationPolicy, preconditions: { uid, resourceVersion } }),
    );
  }

  async #dropOwners({ kind, object }: Item, uids: readonly string[]): Promise<void> {
    const { client } = this.#context;
    const next = deepCopy(object);
    next.metadata.ownerReferences = next.metadata.ownerReferences?.filter(({ uid }) => !uids.includes(uid));
    await ifPresent(client.resource(kind.ref).update(next));
  }

  async #unblockOwners({ kind, object }: Item, uids: readonly string[]): Promise<void> {
    const { client } = this.#context;
    const next = deepCopy(object);
    for (const reference of next.metadata.ownerReferences ?? [])
      if (uids.includes(reference.uid)) reference.blockOwnerDeletion = false;
    await ifPresent(client.resource(kind.ref).update(next));
  }

  async #removeFinalizer({ kind, object }: Item, finalizer: string): Promise<void> {
    const { client } = this.#context;
    const next = deepCopy(object);
    next.metadata.finalizers = next.metadata.finalizers?.filter((name) => name !== finalizer);
    await ifPresent(client.resource(kind.ref).update(next));
  }

  /** Returns the key of the object itself, and the keys of owners that wait for its deletion. */
  #keysOf(ref: ResourceRef, object: KubeObject): readonly ObjectKey[] {
    const waiting = (object.metadata.ownerReferences ?? []).flatMap((reference) => {
      const kind = this.#graph.kinds().get(`${reference.kind}.${groupOf(reference.apiVersion)}`);
      const { namespace } = object.metadata;
      const owner = kind?.lister.get(kind.ref.namespaced ? `${namespace}/${reference.name}` : reference.name);
      return kind && owner && waitsForDependents(owner) ? [keyOf(kind.ref, owner)] : [];
    });
    return [keyOf(ref, object), ...waiting];
  }
}

/** Events have no owners and no dependents; they are deleted by age. */
const isCollected = ({ kind, group }: ResourceRef) => kind !== 'Event' || group !== '';

/** Kinds that lack one of these verbs are not followed: their objects cannot be listed or deleted. */
const isFollowed = (kind: ExtensionKind) => supports(kind, 'list', 'watch', 'delete');

interface FollowedKinds {
  /** Returns the collected kinds by name. */
  kinds(): ReadonlyMap<string, Kind>;
}

/** Follows the collected kinds. The map is rebuilt when a kind is added or removed. */
function followKinds({
  informers,
  kinds,
  extensionKinds = noExtensionKinds,
}: ControllerContext): FollowedKinds {
  let made:
    | {
        readonly of: Kinds['stored'];
        readonly extensions: readonly ExtensionKind[];
        readonly byName: ReadonlyMap<string, Kind>;
      }
    | undefined;
  const make = (ref: ResourceRef): Kind => {
    const informer = informers.informerFor(ref);
    informer.addIndex(byOwner, ownerUids);
    return { ref, lister: informer.lister };
  };
  const kindsNow = () => {
    const { current: extensions } = extensionKinds;
    if (made?.of !== kinds.stored || made.extensions !== extensions) {
      // A kind that is stored here replaces one of the same name of an extension server.
      const collected = [...extensions.filter(isFollowed), ...kinds.stored.filter(isCollected)];
      const byName = new Map(collected.map((ref: ResourceRef) => [kindName(ref), make(ref)]));
      made = { of: kinds.stored, extensions, byName };
    }
    return made.byName;
  };
  // The index must be added before the informers start.
  kindsNow();
  return { kinds: kindsNow };
}

const stateOf = (owner: KubeObject): OwnerState => (waitsForDependents(owner) ? 'waiting' : 'present');

const ownerUids = (object: KubeObject) => object.metadata.ownerReferences?.map(({ uid }) => uid) ?? [];

const groupOf = (apiVersion: string) => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

const kindName = (ref: ResourceRef) => `${ref.kind}.${ref.group}`;

const keyOf = (ref: ResourceRef, object: KubeObject): GraphKey =>
  packKey(kindName(ref), object.metadata.uid, objectKey(object));
