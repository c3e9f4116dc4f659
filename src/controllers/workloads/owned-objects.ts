/**
 * Objects of one kind that owners of another kind control, such as the pods of ReplicaSets: finds and claims
 * the objects of an owner, and checks that the cache shows the last writes for it. An object of another owner
 * is never changed.
 */
import { matches, type Selector } from '../../apimachinery/labels.ts';
import { controllerOf, type KubeObject, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceRef } from '../../apimachinery/resource-definition.ts';
import type { Lister } from '../../client/informer.ts';
import { carryOutClaims, planClaims } from '../../controller-runtime/claim.ts';
import { type ControllerContext, type Watched, watched } from '../../controller-runtime/definition.ts';
import { ObservedWrites } from '../../controller-runtime/observed-writes.ts';
import { byController, controlledBy, controllerIndex } from '../../controller-runtime/owner.ts';

/** A kind `T` whose objects own objects of kind `C`. */
export interface OwnerKind<T extends KubeObject, C extends KubeObject> {
  readonly resource: ResourceRef<T>;
  selectorOf(owner: T): Selector;
  /** Returns true if a matching object without a controller is worth adopting. */
  mayAdopt(object: C, owner: T): boolean;
  /** Returns true if a matching object can belong to the owner; default: always. */
  isMember?(object: C, owner: T): boolean;
  /** Finalizer that objects carry until the owner releases them: added on adoption, removed on release. */
  readonly finalizer?: string;
}

/** Index of objects without a controller by namespace; an owner may adopt them. */
const orphanIndex = 'orphans';
const orphanNamespace = (object: KubeObject) =>
  controllerOf(object) ? [] : [object.metadata.namespace ?? ''];

export class OwnedObjects<T extends KubeObject, C extends KubeObject> {
  /** Watch for the controller's definition; a change of an object enqueues its owner. */
  readonly watch: Watched;
  protected readonly context: ControllerContext;
  protected readonly writes: ObservedWrites<C>;
  readonly #resource: ResourceRef<C>;
  readonly #kind: OwnerKind<T, C>;
  readonly #owners: Lister<T>;
  readonly #objects: Lister<C>;

  constructor(context: ControllerContext, resource: ResourceRef<C>, kind: OwnerKind<T, C>) {
    const informer = context.informers.informerFor(resource);
    this.context = context;
    this.#resource = resource;
    this.#kind = kind;
    this.#owners = context.informers.informerFor(kind.resource).lister;
    this.#objects = informer.lister;
    this.writes = new ObservedWrites(context.client, resource, informer);
    informer.addIndex(controllerIndex, byController);
    informer.addIndex(orphanIndex, orphanNamespace);
    this.watch = watched(resource, (object) => this.#ownersOf(object));
  }

  /** Returns true if the cache shows all creations, updates and deletions for the owner. */
  settled(owner: ObjectKey): Promise<boolean> {
    return this.writes.settled(owner, this.context.clock.now());
  }

  /** Returns the objects that one owner controls, whether they match or not. */
  of(owner: KubeObject): readonly C[] {
    return this.#objects.byIndex(controllerIndex, controlledBy(owner));
  }

  /** Adopts and releases objects, and resolves to the objects that are the owner's afterwards. */
  claim(owner: T): Promise<readonly C[]> {
    const { resource, selectorOf, mayAdopt, isMember = () => true, finalizer } = this.#kind;
    const orphans = this.#objects.byIndex(orphanIndex, owner.metadata.namespace ?? '');
    const candidates = [...this.of(owner), ...orphans];
    const claims = planClaims(
      owner,
      selectorOf(owner),
      candidates,
      (one) => mayAdopt(one, owner),
      (one) => isMember(one, owner),
    );
    return carryOutClaims(this.context.client, this.#resource, resource, owner, claims, finalizer);
  }

  /** Returns the owner, or all owners that could adopt the object. */
  #ownersOf(object: C): readonly ObjectKey[] {
    const { resource, selectorOf, mayAdopt, isMember = () => true } = this.#kind;
    const { namespace, labels } = object.metadata;
    const owner = controllerOf(object);
    if (owner) {
      const ours = owner.kind === resource.kind && owner.apiVersion === apiVersionOf(resource);
      return ours ? [objectKey({ metadata: { name: owner.name, namespace } })] : [];
    }
    if (!labels) return [];
    return this.#owners
      .list(namespace)
      .filter((one) => mayAdopt(object, one) && isMember(object, one) && matches(selectorOf(one), labels))
      .map(objectKey);
  }
}
