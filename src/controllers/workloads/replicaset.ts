/**
 * Keeps as many pods as a ReplicaSet asks for. Invariants: it decides only on a cache that shows its own last
 * writes, so it never makes a pod twice or removes one too many; it never touches a pod of another owner.
 */
import { type ReplicaSet, replicaSetResource } from '../../api/apps/v1/replica-set.ts';
import { type Pod, podResource } from '../../api/core/v1/pod.ts';
import { isPodActive } from '../../api/core/v1/pod-conditions.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { matches, selectorFromLabelSelector } from '../../apimachinery/labels.ts';
import {
  controllerOf,
  type Draft,
  isTerminating,
  type ObjectKey,
  objectKey,
} from '../../apimachinery/meta.ts';
import { isNamespaceTerminating, isNotFound } from '../../apimachinery/status-error.ts';
import { errorMessage } from '../../base/log.ts';
import { rfc3339 } from '../../base/time.ts';
import { carryOutClaims, controllerReference, planClaims } from '../../controller-runtime/claim.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { ObservedWrites, verifyAfter } from '../../controller-runtime/observed-writes.ts';
import { byControllerUid, controllerUidIndex } from '../../controller-runtime/owner.ts';
import { type Failure, planReplicas, planStatus, slowStartBatches } from './replicaset-plan.ts';

/** Pods without a controller, by namespace: those that a set may adopt. */
const orphanIndex = 'replicaset.orphans';
const orphanNamespace = (pod: Pod) => (controllerOf(pod) ? [] : [pod.metadata.namespace ?? '']);

export function replicaSetController(context: ControllerContext): ControllerDefinition {
  const { client, clock, events, informers } = context;
  const setInformer = informers.informerFor(replicaSetResource);
  const sets = setInformer.lister;
  const podInformer = informers.informerFor(podResource);
  const pods = podInformer.lister;
  const writes = new ObservedWrites(client, podResource, podInformer);
  const ownWrites = new ObservedWrites(client, replicaSetResource, setInformer);
  podInformer.addIndex(controllerUidIndex, byControllerUid);
  podInformer.addIndex(orphanIndex, orphanNamespace);

  /** The set that owns the pod, or every set that could adopt it. */
  function setsOf(pod: Pod): readonly ObjectKey[] {
    const owner = controllerOf(pod);
    if (owner) return owner.kind === 'ReplicaSet' ? [`${pod.metadata.namespace}/${owner.name}`] : [];
    if (!pod.metadata.labels) return [];
    return sets
      .list(pod.metadata.namespace)
      .filter((set) => matches(selectorFromLabelSelector(set.spec.selector), pod.metadata.labels))
      .map(objectKey);
  }

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const set = sets.get(key);
    if (!set) return undefined;
    const settled = (await writes.settled(key, clock.now())) && (await ownWrites.settled(key, clock.now()));
    if (!settled) return { requeueAfter: verifyAfter };
    const orphans = pods.byIndex(orphanIndex, set.metadata.namespace ?? '');
    const candidates = [...pods.byIndex(controllerUidIndex, set.metadata.uid), ...orphans];
    const claims = planClaims(set, selectorFromLabelSelector(set.spec.selector), candidates, isPodActive);
    const owned = await carryOutClaims(client, podResource, replicaSetResource, set, claims);
    const attempt = isTerminating(set) ? undefined : await manage(key, set, owned);
    const now = clock.now();
    const { status, changed, nextAvailableIn } = planStatus(set, owned, attempt?.failure, now, rfc3339(now));
    if (changed) {
      const written = await ifPresent(
        client.resource(replicaSetResource).updateStatus({ ...deepCopy(set), status }),
      );
      if (written) ownWrites.written(key, written, clock.now());
    }
    if (attempt?.error) throw attempt.error;
    return nextAvailableIn === undefined ? undefined : { requeueAfter: nextAvailableIn };
  }

  async function manage(key: ObjectKey, set: ReplicaSet, owned: readonly Pod[]) {
    const plan = planReplicas(set, owned, siblingPods(set, owned));
    const draft = podFrom(set);
    for (const size of slowStartBatches(plan.create)) {
      const results = await Promise.allSettled(Array.from({ length: size }, () => create(key, set, draft)));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) return failure('FailedCreate', failed.reason);
    }
    const results = await Promise.allSettled(plan.remove.map((pod) => remove(key, set, pod)));
    const failed = results.find((result) => result.status === 'rejected');
    return failed && failure('FailedDelete', failed.reason);
  }

  /** The pods of all sets that share this one's owner. */
  function siblingPods(set: ReplicaSet, owned: readonly Pod[]): readonly Pod[] {
    const owner = controllerOf(set);
    if (!owner) return owned;
    return sets
      .list(set.metadata.namespace)
      .filter((other) => controllerOf(other)?.uid === owner.uid)
      .flatMap((other) => pods.byIndex(controllerUidIndex, other.metadata.uid));
  }

  async function create(key: ObjectKey, set: ReplicaSet, draft: Draft<Pod>): Promise<void> {
    try {
      const pod = await client.resource(podResource).create(draft);
      writes.written(key, pod, clock.now());
      events.event(set, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
    } catch (error) {
      if (!isNamespaceTerminating(error))
        events.event(set, 'Warning', 'FailedCreate', `Error creating: ${errorMessage(error)}`);
      throw error;
    }
  }

  async function remove(key: ObjectKey, set: ReplicaSet, pod: Pod): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    try {
      await client.resource(podResource).delete(name, namespace, { preconditions: { uid } });
      writes.removed(key, pod, clock.now());
      events.event(set, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
    } catch (error) {
      if (isNotFound(error)) return;
      events.event(set, 'Warning', 'FailedDelete', `Error deleting: ${errorMessage(error)}`);
      throw error;
    }
  }

  return {
    name: 'replicaset',
    workers: 8,
    watches: [watched(replicaSetResource, (set) => [objectKey(set)]), watched(podResource, setsOf)],
    reconcile,
  };
}

/** Where a namespace ends, retrying will not help: the set itself is about to go. */
function failure(reason: Failure['reason'], error: unknown): { failure: Failure; error: unknown } {
  const hopeless = isNamespaceTerminating(error);
  return { failure: { reason, message: errorMessage(error) }, error: hopeless ? undefined : error };
}

/** The pod that a set's template describes. */
export function podFrom(set: ReplicaSet): Draft<Pod> {
  const { labels, annotations, finalizers } = set.spec.template.metadata;
  return deepCopy({
    apiVersion: 'v1' as const,
    kind: 'Pod' as const,
    metadata: {
      generateName: `${set.metadata.name}-`,
      namespace: set.metadata.namespace,
      labels,
      annotations,
      finalizers,
      ownerReferences: [controllerReference(replicaSetResource, set)],
    },
    spec: set.spec.template.spec,
  });
}
