/**
 * Plans the pods of a ReplicaSet or a ReplicationController from its existing pods and the time
 * (k8s.io/kubernetes pkg/controller/replicaset). Pure. A converged set yields an empty plan.
 */

import type { ReplicaSet } from '../../../api/apps/v1/replica-set.ts';
import { isPodActive, podAvailableIn, podCondition, podReady } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { ReplicationController } from '../../../api/core/v1/replication-controller.ts';
import { withCondition, withoutCondition } from '../../../apimachinery/conditions.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { matches, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import type { PodFailure } from '../pods/owned-pods.ts';

/** An object that keeps a number of equal pods. */
export type Replicas = ReplicaSet | ReplicationController;

export type ReplicasStatus = NonNullable<Replicas['status']>;

/** Maximum number of pods that are created or deleted in one reconcile (upstream's BurstReplicas). */
export const burstReplicas = 500;

export interface ReplicasPlan {
  /** Number of pods to create. */
  readonly create: number;
  /** Pods to delete, the most dispensable first. */
  readonly remove: readonly Pod[];
}

/**
 * Plans the pods. `owned` are the pods of this set. `siblings` are the pods of all sets with the same owner
 * (a Deployment), including this one's: pods on nodes with many siblings are deleted first.
 */
export function planReplicas(set: Replicas, owned: readonly Pod[], siblings: readonly Pod[]): ReplicasPlan {
  const active = owned.filter(isPodActive);
  const missing = set.spec.replicas - active.length;
  if (missing >= 0) return { create: Math.min(missing, burstReplicas), remove: [] };
  const count = Math.min(-missing, burstReplicas);
  return { create: 0, remove: rankForDeletion(active, siblings.filter(isPodActive)).slice(0, count) };
}

/**
 * Returns the pods in the order of deletion: unassigned before assigned, Pending before Unknown before
 * Running, not ready before ready, lower `controller.kubernetes.io/pod-deletion-cost` first, on nodes with
 * more siblings first, ready for a shorter time, restarted more often, younger (ActivePodsWithRanks.Less).
 */
export function rankForDeletion(pods: readonly Pod[], siblings: readonly Pod[]): Pod[] {
  const onNode = Map.groupBy(siblings, ({ spec }) => spec.nodeName);
  const traits = (pod: Pod): readonly number[] => [
    Number(Boolean(pod.spec.nodeName)),
    phaseRank[pod.status?.phase ?? 'Pending'],
    Number(podReady(pod)),
    deletionCost(pod),
    -(onNode.get(pod.spec.nodeName)?.length ?? 0),
    -time(podReady(pod) ? podCondition(pod, 'Ready')?.lastTransitionTime : undefined),
    -restartCount(pod),
    -time(pod.metadata.creationTimestamp),
  ];
  return pods
    .map((pod) => ({ pod, traits: traits(pod) }))
    .sort((a, b) => compareTraits(a.traits, b.traits) || (a.pod.metadata.name < b.pod.metadata.name ? -1 : 1))
    .map(({ pod }) => pod);
}

const phaseRank = { Pending: 0, Unknown: 1, Running: 2, Succeeded: 2, Failed: 2 } as const;

/** Returns the cost, a 32-bit integer; other values count as 0. */
function deletionCost(pod: Pod): number {
  const text = pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'];
  const cost = Number(text?.match(/^(0|-?[1-9]\d{0,9})$/)?.[0]);
  return cost === (cost | 0) ? cost : 0;
}

/** Parses a time. A missing time counts as the youngest, as it does upstream. */
const time = (text: string | undefined) => (text ? Date.parse(text) : Number.MAX_SAFE_INTEGER);

function compareTraits(a: readonly number[], b: readonly number[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? 0;
    if (left !== right) return left - right;
  }
  return 0;
}

export interface StatusPlan {
  readonly status: ReplicasStatus;
  /** False if the set already has this status. */
  readonly changed: boolean;
  /** Milliseconds until a ready pod becomes available by the passing of time alone. */
  readonly nextAvailableIn: number | undefined;
}

export function planStatus(
  set: Replicas,
  owned: readonly Pod[],
  failure: Pick<PodFailure, 'reason' | 'message'> | undefined,
  now: number,
  nowText: string,
): StatusPlan {
  const active = owned.filter(isPodActive);
  const template = selectorFromLabelSelector({ matchLabels: set.spec.template.metadata.labels });
  const waits = active.map((pod) => podAvailableIn(pod, set.spec.minReadySeconds ?? 0, now));
  const later = waits.flatMap((wait) => wait || []);
  const old = set.status?.conditions ?? [];
  const status: ReplicasStatus = {
    replicas: active.length,
    fullyLabeledReplicas: active.filter((pod) => matches(template, pod.metadata.labels)).length,
    readyReplicas: active.filter(podReady).length,
    availableReplicas: waits.filter((wait) => wait === 0).length,
    observedGeneration: set.metadata.generation,
    conditions: failure
      ? withCondition(old, {
          type: 'ReplicaFailure',
          status: 'True',
          reason: failure.reason,
          message: failure.message,
          lastTransitionTime: nowText,
        })
      : withoutCondition(old, 'ReplicaFailure'),
  };
  if (status.conditions?.length === 0) delete status.conditions;
  return {
    status,
    changed: !deepEqual(status, set.status),
    nextAvailableIn: later.length > 0 ? Math.min(...later) : undefined,
  };
}

const restartCount = (pod: Pod) =>
  Math.max(0, ...(pod.status?.containerStatuses ?? []).map((container) => container.restartCount));
