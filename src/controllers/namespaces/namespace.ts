/**
 * Empties a terminating namespace and then removes its finalizer. Pods are deleted first: as long as one is
 * left, it keeps its NetworkPolicies, Secrets and all other objects. Objects with finalizers, and pods that a
 * kubelet must terminate, take longer; their deletion enqueues the namespace again.
 */

import { type Namespace, namespaceResource } from '../../api/core/v1/namespace.ts';
import { podResource } from '../../api/core/v1/pod/pod.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { withCondition } from '../../apimachinery/conditions.ts';
import { deepCopy, deepEqual } from '../../apimachinery/equality.ts';
import { noExtensionKinds } from '../../apimachinery/extension-kinds.ts';
import type { KubeObject, ObjectKey } from '../../apimachinery/meta.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceRef } from '../../apimachinery/resource-definition.ts';
import type { Condition } from '../../apimachinery/schema.ts';
import { errorMessage } from '../../base/log.ts';
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

export const namespaceRights: AccountRights = {
  kubernetes: [
    ['get list watch delete', 'core', 'namespaces'],
    ['update', 'core', 'namespaces/finalize namespaces/status'],
    ['get list watch delete deletecollection', '*', '*'],
  ],
};

const finalizer = 'kubernetes';

/**
 * Milliseconds after which a namespace that is not empty is checked again, because the deletion of Events is
 * not watched.
 */
const recheckAfter = 5_000;

/** Objects of one kind that are left in a namespace. */
export interface RemainingContent {
  /** Plural and group, such as `pods.` or `deployments.apps`, as upstream writes them. */
  readonly resource: string;
  readonly count: number;
  /** Number of objects that each finalizer blocks. */
  readonly finalizers: Readonly<Record<string, number>>;
}

/** Reasons for which a namespace cannot be emptied now. */
export interface DeletionTroubles {
  /** Message of a failed request. */
  readonly failure?: string | undefined;
  /** Versions of extension servers whose kinds are not known. */
  readonly unknown?: readonly string[];
}

/**
 * Returns the conditions of a terminating namespace
 * (pkg/controller/namespace/deletion/status_condition_utils).
 */
export function deletionConditions(
  current: readonly Condition[],
  remains: readonly RemainingContent[],
  { failure, unknown = [] }: DeletionTroubles,
  now: string,
): Condition[] {
  const some = remains.filter(({ count }) => count > 0);
  const content = some.map(({ resource, count }) => `${resource} has ${count} resource instances`).join(', ');
  const held = new Map<string, number>();
  for (const { finalizers } of some)
    for (const [name, count] of Object.entries(finalizers)) held.set(name, (held.get(name) ?? 0) + count);
  const holders = [...held].map(([name, count]) => `${name} in ${count} resource instances`).join(', ');
  const wanted: Omit<Condition, 'lastTransitionTime'>[] = [
    discoveryCondition(unknown),
    condition(
      'NamespaceDeletionGroupVersionParsingFailure',
      false,
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    failure === undefined
      ? condition(
          'NamespaceDeletionContentFailure',
          false,
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        )
      : condition('NamespaceDeletionContentFailure', true, 'ContentDeletionFailed', failure),
    content
      ? condition(
          'NamespaceContentRemaining',
          true,
          'SomeResourcesRemain',
          `Some resources are remaining: ${content}`,
        )
      : condition('NamespaceContentRemaining', false, 'ContentRemoved', 'All content successfully removed'),
    holders
      ? condition(
          'NamespaceFinalizersRemaining',
          true,
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${holders}`,
        )
      : condition(
          'NamespaceFinalizersRemaining',
          false,
          'ContentHasNoFinalizers',
          'All content-preserving finalizers finished',
        ),
  ];
  let conditions = [...current];
  for (const one of wanted) {
    const next = withCondition(conditions, { ...one, lastTransitionTime: now });
    conditions = next.map((other) => (other.type === one.type ? { ...other, message: one.message } : other));
  }
  return conditions;
}

function discoveryCondition(unknown: readonly string[]) {
  const type = 'NamespaceDeletionDiscoveryFailure';
  if (unknown.length === 0)
    return condition(type, false, 'ResourcesDiscovered', 'All resources successfully discovered');
  const stale = unknown.map((version) => `${version}: stale GroupVersion discovery: ${version}`).join(', ');
  const message = `Discovery failed for some groups, ${unknown.length} failing: unable to retrieve the complete list of server APIs: ${stale}`;
  return condition(type, true, 'DiscoveryFailed', message);
}

const condition = (type: string, yes: boolean, reason: string, message: string) =>
  ({ type, status: yes ? 'True' : 'False', reason, message }) as const;

export const namespaceController = (context: ControllerContext): ControllerDefinition =>
  new NamespaceController(context).definition();

class NamespaceController {
  readonly #context: ControllerContext;
  readonly #namespaces: Lister<Namespace>;

  constructor(context: ControllerContext) {
    const { informers } = context;
    this.#context = context;
    this.#namespaces = informers.informerFor(namespaceResource).lister;
  }

  definition(): ControllerDefinition {
    return {
      name: 'namespace',
      watches: [watched(namespaceResource, (namespace) => [namespace.metadata.name])],
      // Events change too often to be watched for this purpose.
      watchOf: (kind) =>
        kind.namespaced && kind.kind !== 'Event'
          ? watched(kind, (object) => this.#terminatingNamespaceOf(object))
          : undefined,
      reconcile: (key) => this.#reconcile(key),
    };
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { kinds, extensionKinds = noExtensionKinds } = this.#context;
    const cached = this.#namespaces.get(key);
    if (!cached || !isTerminating(cached) || !cached.spec?.finalizers?.includes(finalizer)) return undefined;
    // Read before the kinds: a version that becomes known meanwhile must not be taken for empty.
    const unknown = extensionKinds.unknownVersions();
    const known = extensionKinds.current.filter((kind) => !unknown.includes(apiVersionOf(kind)));
    const namespaced = [...kinds.stored, ...known].filter((kind) => kind.namespaced);
    const results = await this.#emptyInOrder(namespaced, key);
    const remains = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = results.find((result) => result.status === 'rejected');
    const troubles = { failure: failed && errorMessage(failed.reason), unknown };
    const namespace = await this.#report(cached, remains, troubles);
    if (failed) throw failed.reason;
    if (unknown.length > 0 || remains.some(({ count }) => count > 0)) return { requeueAfter: recheckAfter };
    if (namespace) await this.#finalize(namespace);
    return undefined;
  }

  /** Empties the other kinds only after all pods are deleted; returns the results of the tried kinds. */
  async #emptyInOrder(
    kinds: readonly ResourceRef[],
    namespace: string,
  ): Promise<PromiseSettledResult<RemainingContent>[]> {
    const isPods = ({ group, plural }: ResourceRef) =>
      group === podResource.group && plural === podResource.plural;
    const pods = await Promise.allSettled([this.#empty(podResource, namespace)]);
    if (pods.some((result) => result.status === 'rejected' || result.value.count > 0)) return pods;
    const others = kinds.filter((kind) => !isPods(kind)).map((kind) => this.#empty(kind, namespace));
    return [...pods, ...(await Promise.allSettled(others))];
  }

  /** Deletes all objects of a kind and counts the remaining ones. */
  async #empty(kind: ResourceRef, namespace: string): Promise<RemainingContent> {
    const { client, clock } = this.#context;
    const api = client.resource(kind);
    const { items } = await api.list({ namespace });
    const staying = items.filter((object) => !isTerminating(object));
    await doAll(clock, staying, (object) => this.#remove(kind, object));
    const left = items.length > 0 ? (await api.list({ namespace })).items : [];
    const finalizers: Record<string, number> = {};
    for (const name of left.flatMap((object) => object.metadata.finalizers ?? []))
      finalizers[name] = (finalizers[name] ?? 0) + 1;
    return { resource: `${kind.plural}.${kind.group}`, count: left.length, finalizers };
  }

  async #remove(kind: ResourceRef, object: KubeObject): Promise<void> {
    const { client } = this.#context;
    const { name, namespace, uid } = object.metadata;
    const options = { propagationPolicy: 'Background', preconditions: { uid } } as const;
    await ifPresent(client.resource(kind).delete(name, namespace, options));
  }

  async #report(namespace: Namespace, remains: readonly RemainingContent[], troubles: DeletionTroubles) {
    const { clock, client } = this.#context;
    const next = deepCopy(namespace);
    const now = rfc3339(clock.now());
    const conditions = deletionConditions(namespace.status?.conditions ?? [], remains, troubles, now);
    next.status = { ...next.status, phase: 'Terminating', conditions };
    if (deepEqual(next.status, namespace.status)) return namespace;
    return ifPresent(client.resource(namespaceResource).updateStatus(next));
  }

  async #finalize(namespace: Namespace): Promise<void> {
    const { client } = this.#context;
    const next = deepCopy(namespace);
    next.spec = {
      ...next.spec,
      finalizers: next.spec?.finalizers?.filter((name) => name !== finalizer) ?? [],
    };
    await ifPresent(client.resource(namespaceResource).updateSubresource(next, 'finalize'));
  }

  #terminatingNamespaceOf(object: KubeObject): readonly ObjectKey[] {
    const { namespace } = object.metadata;
    const owner = namespace ? this.#namespaces.get(namespace) : undefined;
    return owner && isTerminating(owner) ? [owner.metadata.name] : [];
  }
}
