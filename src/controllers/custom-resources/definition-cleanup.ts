/**
 * Removes the objects of a CustomResourceDefinition that is being deleted, and then its finalizer. Objects
 * with finalizers take longer; their removal enqueues the definition again.
 */
import {
  type CustomResourceDefinition,
  customResourceDefinitionResource,
} from '../../api/apiextensions/v1/custom-resource-definition.ts';
import {
  cleanupFinalizer,
  isDefinitionTrue,
  terminating,
  type WantedCondition,
  withDefinitionCondition,
} from '../../api/apiextensions/v1/definition-conditions.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy, deepEqual } from '../../apimachinery/equality.ts';
import { isTerminating, type KubeObject, type ObjectKey } from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { rfc3339 } from '../../base/time.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { doAll } from '../../controller-runtime/settle-all.ts';

export const definitionCleanupRights: AccountRights = {
  own: [
    ['get list watch update', 'apiextensions.k8s.io', 'customresourcedefinitions'],
    ['update', 'apiextensions.k8s.io', 'customresourcedefinitions/status'],
    ['get list watch delete', '*', '*'],
  ],
};

/** Milliseconds after which a definition that still has objects is checked again. */
const recheckAfter = 5_000;

export const definitionCleanup = (context: ControllerContext): ControllerDefinition =>
  new DefinitionCleanup(context).definition();

class DefinitionCleanup {
  readonly #context: ControllerContext;
  readonly #definitions: Lister<CustomResourceDefinition>;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#definitions = context.informers.informerFor(customResourceDefinitionResource).lister;
  }

  definition(): ControllerDefinition {
    const { kinds } = this.#context;
    return {
      name: 'customresourcedefinition-cleanup',
      watches: [watched(customResourceDefinitionResource, ({ metadata }) => [metadata.name])],
      watchOf: (kind) =>
        kinds.removalOf(kind) ? watched(kind, () => this.#terminatingDefinitionOf(kind)) : undefined,
      reconcile: (key) => this.#reconcile(key),
    };
  }

  #terminatingDefinitionOf({ plural, group }: ResourceRef): readonly ObjectKey[] {
    const name = `${plural}.${group}`;
    const definition = this.#definitions.get(name);
    return definition && isTerminating(definition) ? [name] : [];
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const listed = this.#definitions.get(key);
    if (!listed?.metadata.deletionTimestamp || !listed.metadata.finalizers?.includes(cleanupFinalizer))
      return undefined;
    const definition = await this.#report(listed, terminating.running);
    if (!definition) return undefined;
    if (!isDefinitionTrue(definition, 'Established'))
      return this.#finalize(definition, terminating.neverEstablished);
    const kind = this.#kindOf(definition);
    // The server serves a kind until its definition is gone.
    if (!kind || (await this.#removeAll(kind)) > 0) return { requeueAfter: recheckAfter };
    return this.#finalize(definition, terminating.done);
  }

  /** Returns the kind as it is served; undefined if this server does not serve it yet. */
  #kindOf({ spec }: CustomResourceDefinition): ResourceRef | undefined {
    const { kinds } = this.#context;
    return kinds.stored.find(
      (kind) => kind.group === spec.group && kind.plural === spec.names.plural && kinds.removalOf(kind),
    );
  }

  /** Deletes all objects and returns the number of those that remain. */
  async #removeAll(kind: ResourceRef): Promise<number> {
    const { client, clock } = this.#context;
    const api = client.resource(kind);
    const { items } = await api.list();
    const staying = items.filter((object) => !isTerminating(object));
    await doAll(clock, staying, (object) => this.#remove(kind, object));
    return items.length > 0 ? (await api.list()).items.length : 0;
  }

  async #remove(kind: ResourceRef, { metadata }: KubeObject): Promise<void> {
    const { name, namespace, uid } = metadata;
    await ifPresent(this.#context.client.resource(kind).delete(name, namespace, { preconditions: { uid } }));
  }

  async #report(
    definition: CustomResourceDefinition,
    condition: WantedCondition,
  ): Promise<CustomResourceDefinition | undefined> {
    const { client, clock } = this.#context;
    const now = rfc3339(clock.now());
    const next = deepCopy(definition);
    next.status = {
      ...next.status,
      conditions: withDefinitionCondition(next.status?.conditions, condition, now),
    };
    if (deepEqual(next.status, definition.status)) return definition;
    return ifPresent(client.resource(customResourceDefinitionResource).updateStatus(next));
  }

  async #finalize(definition: CustomResourceDefinition, condition: WantedCondition): Promise<undefined> {
    const reported = await this.#report(definition, condition);
    if (!reported) return undefined;
    const next = deepCopy(reported);
    next.metadata.finalizers = next.metadata.finalizers?.filter((name) => name !== cleanupFinalizer) ?? [];
    await ifPresent(this.#context.client.resource(customResourceDefinitionResource).update(next));
    return undefined;
  }
}
