/** Maintains the requested number of pods; shared by ReplicaSets and ReplicationControllers. */
import { isPodActive } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import type { Selector } from '../../../apimachinery/labels.ts';
import { controllerOf, isTerminating, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { rfc3339 } from '../../../base/time.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { ObservedWrites, verifyAfter } from '../../../controller-runtime/observed-writes.ts';
import { OwnedPods } from '../pods/owned-pods.ts';
import { podDraft } from '../pods/pod-draft.ts';
import { planReplicas, planStatus, type Replicas } from './replicas-plan.ts';

export interface ReplicasKind<T extends Replicas> {
  readonly name: string;
  readonly resource: ResourceRef<T>;
  selectorOf(owner: T): Selector;
}

export function replicasController<T extends Replicas>(
  context: ControllerContext,
  { name, resource, selectorOf }: ReplicasKind<T>,
): ControllerDefinition {
  const { client, clock, informers } = context;
  const informer = informers.informerFor(resource);
  const sets = informer.lister;
  const pods = new OwnedPods(context, { resource, selectorOf, mayAdopt: isPodActive });
  const ownWrites = new ObservedWrites(client, resource, informer);

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const set = sets.get(key);
    if (!set) return undefined;
    const settled = (await pods.settled(key)) && (await ownWrites.settled(key, clock.now()));
    if (!settled) return { requeueAfter: verifyAfter };
    return reconcileSet(set);
  }

  async function reconcileSet(set: T): Promise<ReconcileResult | undefined> {
    const owned = await pods.claim(set);
    const failure = isTerminating(set) ? undefined : await manage(set, owned);
    const now = clock.now();
    const { status, changed, nextAvailableIn } = planStatus(set, owned, failure, now, rfc3339(now));
    if (changed) await writeStatus(set, status);
    if (failure?.error) throw failure.error;
    return nextAvailableIn === undefined ? undefined : { requeueAfter: nextAvailableIn };
  }

  async function writeStatus(set: T, status: ReturnType<typeof planStatus>['status']): Promise<void> {
    const written = await ifPresent(client.resource(resource).updateStatus({ ...deepCopy(set), status }));
    if (written) ownWrites.written(objectKey(set), written, clock.now());
  }

  async function manage(set: T, owned: readonly Pod[]) {
    const { create, remove } = planReplicas(set, owned, siblingPods(set, owned));
    const draft = podDraft(resource, set, set.spec.template);
    return (
      (await pods.createAll(set, Array<typeof draft>(create).fill(draft))) ??
      (await pods.removeAll(set, remove))
    );
  }

  /** Returns the pods of all sets with the same owner as this set, such as a Deployment. */
  function siblingPods(set: T, owned: readonly Pod[]): readonly Pod[] {
    const owner = controllerOf(set);
    if (!owner) return owned;
    return sets
      .list(set.metadata.namespace)
      .filter((other) => controllerOf(other)?.uid === owner.uid)
      .flatMap((other) => pods.of(other));
  }

  return {
    name,
    workers: 8,
    watches: [watched(resource, (set) => [objectKey(set)]), pods.watch],
    reconcile,
  };
}
