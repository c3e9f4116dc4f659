/**
 * What a ReplicaSet or a ReplicationController wants done, decided from its pods and the time (k8s.io/kubernetes
 * pkg/controller/replicaset).
 * Pure. A converged set gives an empty plan.
 */
import type { Pod } from '../../../api/core/v1/pod.ts';
import { isPodActive, podAvailableIn, podCondition, podReady } from '../../../api/core/v1/pod-conditions.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { matches, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { withCondition, withoutCondition } from '../../../controller-runtime/conditions.ts';
import type { PodFailure } from '../pods/owned-pods.ts';
import type { Replicas } from './replicas.ts';

export type ReplicasStatus = NonNullable<Replicas['status']>;

/** At most this many pods are created or deleted at one go (upstream's BurstReplicas). */
export const burstReplicas = 500;

export interface ReplicasPlan {
  /** How many pods to create. */
  readonly create: number;
  /** The pods to delete, the most dispensable first. */
  readonly remove: readonly Pod[];
}

/**
 * `owned` are the pods of this set; `siblings` the pods of every set with the same owner (a Deployment's),
 * this one's included: nodes that carry many of those give up theirs first.
 */
export function planReplicas(set: Replicas, owned: readonly Pod[], siblings: readonly Pod[]): ReplicasPlan {
  const active = owned.filter(isPodActive);
  const missing = set.spec.replicas - active.length;
  if (missing >= 0) return { create: Math.min(missing, burstReplicas), remove: [] };
  const count = Math.min(-missing, burstReplicas);
  return { create: 0, remove: rankForDeletion(active, siblings.filter(isPodActive)).slice(0, count) };
}

/**
 * The pods in the order in which they are given up: unassigned before assigned, Pending before Unknown before
 * Running, not ready before ready, cheaper by `controller.kubernetes.io/pod-deletion-cost`, on fuller nodes,
 * ready for a shorter time, restarted more often, younger (ActivePodsWithRanks.Less).
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

/** A whole number of 32 bits; anything else counts as 0. */
function deletionCost(pod: Pod): number {
  const text = pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'];
  const cost = Number(text?.match(/^(0|-?[1-9]\d{0,9})$/)?.[0]);
  return cost === (cost | 0) ? cost : 0;
}

/** A missing time counts as the youngest, as it does upstream. */
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
  /** False when the set already says so. */
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
