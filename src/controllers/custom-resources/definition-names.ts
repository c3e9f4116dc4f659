/**
 * Accepts the names of CustomResourceDefinitions, establishes the definitions, and reports whether
 * definitions in groups of the Kubernetes community were approved. Servers serve the kinds of definitions
 * whose names are accepted.
 */
import {
  type CustomResourceDefinition,
  customResourceDefinitionResource,
} from '../../api/apiextensions/v1/custom-resource-definition.ts';
import { isDefinitionTrue } from '../../api/apiextensions/v1/definition-conditions.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { rfc3339 } from '../../base/time.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { definitionStatus } from './definition-status-plan.ts';

export const definitionNamesRights: AccountRights = {
  own: [
    ['get list watch', 'apiextensions.k8s.io', 'customresourcedefinitions'],
    ['update', 'apiextensions.k8s.io', 'customresourcedefinitions/status'],
  ],
};

export const definitionNames = (context: ControllerContext): ControllerDefinition =>
  new DefinitionNames(context).definition();

class DefinitionNames {
  readonly #context: ControllerContext;
  readonly #definitions: Lister<CustomResourceDefinition>;
  /** Definitions as this controller wrote them last, until the informer shows them. */
  readonly #written = new Map<ObjectKey, CustomResourceDefinition>();

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#definitions = context.informers.informerFor(customResourceDefinitionResource).lister;
  }

  definition(): ControllerDefinition {
    return {
      name: 'customresourcedefinition-names',
      watches: [watched(customResourceDefinitionResource, (definition) => this.#keysOf(definition))],
      // Two definitions must not be given the same name at once.
      workers: 1,
      reconcile: (key) => this.#reconcile(key),
    };
  }

  /** A changed definition may have released names that others of its group wait for. */
  #keysOf(definition: CustomResourceDefinition): readonly ObjectKey[] {
    const waiting = this.#definitions
      .list()
      .filter(
        (other) => other.spec.group === definition.spec.group && !isDefinitionTrue(other, 'NamesAccepted'),
      );
    return [definition, ...waiting].map(objectKey);
  }

  async #reconcile(key: ObjectKey): Promise<undefined> {
    const { client, clock, kinds } = this.#context;
    if (!this.#definitions.get(key)) this.#written.delete(key);
    const definition = this.#current(key);
    if (!definition) return undefined;
    const { group } = definition.spec;
    const definitions = this.#definitions
      .list()
      .flatMap((one) => (one.spec.group === group ? (this.#current(objectKey(one)) ?? []) : []));
    // Kinds that are never removed are part of the server.
    const builtIn = kinds.stored.filter((kind) => kind.group === group && !kinds.removalOf(kind));
    const status = definitionStatus(definition, { definitions, builtIn }, rfc3339(clock.now()));
    if (!status) return undefined;
    const next = { ...deepCopy(definition), status };
    const written = await ifPresent(client.resource(customResourceDefinitionResource).updateStatus(next));
    if (written) this.#written.set(key, written);
    return undefined;
  }

  /** Returns the newer of the informer's state and the one that was written last. */
  #current(key: ObjectKey): CustomResourceDefinition | undefined {
    const listed = this.#definitions.get(key);
    const written = this.#written.get(key);
    if (!listed || !written || listed.metadata.uid !== written.metadata.uid) return listed;
    return Number(written.metadata.resourceVersion) > Number(listed.metadata.resourceVersion)
      ? written
      : listed;
  }
}
