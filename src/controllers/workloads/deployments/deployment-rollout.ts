/**
 * Computes how many replicas each ReplicaSet of a Deployment may have next. Pure; follows k8s.io/kubernetes
 * pkg/controller/deployment (rolling.go, sync.go, util). Safety: the requested replicas of all sets never
 * exceed spec.replicas + maxSurge, and a step never leaves fewer than spec.replicas − maxUnavailable
 * available pods.
 */
import type { Deployment } from '../../../api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../api/apps/v1/replica-set.ts';
import { resolveCount } from '../../../api/int-or-percent.ts';
import { oldestFirst } from './deployment-template.ts';

export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas';

export interface Scale {
  readonly set: ReplicaSet;
  readonly replicas: number;
}

export interface Limits {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/**
 * Returns the limits. Percentages refer to spec.replicas: surge rounds up, unavailable rounds down. If both
 * are 0 the rollout would never progress, so one pod may be unavailable.
 */
export function rolloutLimits(deployment: Deployment): Limits {
  const { replicas, strategy } = deployment.spec;
  if (strategy.type !== 'RollingUpdate') return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy.rollingUpdate ?? {};
  const surge = resolveCount(maxSurge, replicas, Math.ceil);
  const unavailable = Math.min(resolveCount(maxUnavailable, replicas, Math.floor), replicas);
  return {
    maxSurge: surge,
    maxUnavailable: surge === 0 && unavailable === 0 ? Math.min(1, replicas) : unavailable,
  };
}

export const sumReplicas = (sets: readonly ReplicaSet[]) =>
  sets.reduce((sum, set) => sum + set.spec.replicas, 0);

/**
 * Returns the pods that are certainly available: a set that was just scaled down may still count pods that it
 * is about to delete.
 */
const surelyAvailable = (set: ReplicaSet) => Math.min(set.status?.availableReplicas ?? 0, set.spec.replicas);

/**
 * Returns the size of the new set: as large as the surge allows. For Recreate it is the full size, since no
 * pods of the other sets are left.
 */
export function newSetReplicas(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  others: readonly ReplicaSet[],
) {
  const { replicas } = deployment.spec;
  const current = newSet?.spec.replicas ?? 0;
  const room = replicas + rolloutLimits(deployment).maxSurge - current - sumReplicas(others);
  return Math.min(replicas, current + Math.max(0, room));
}

/** Returns the new sizes of the old sets that may shrink now. Unhealthy pods are removed first. */
export function shrinkOldSets(
  deployment: Deployment,
  newSet: ReplicaSet,
  old: readonly ReplicaSet[],
): Scale[] {
  const minAvailable = deployment.spec.replicas - rolloutLimits(deployment).maxUnavailable;
  let left = sumReplicas(old) + surelyAvailable(newSet) - minAvailable;
  const take = (wanted: number) => {
    const taken = Math.max(0, Math.min(left, wanted));
    left -= taken;
    return taken;
  };
  const unhealthy = oldestFirst(old).map((set) => ({
    set,
    gone: take(set.spec.replicas - surelyAvailable(set)),
  }));
  return unhealthy
    .map(({ set, gone }) => ({ set, replicas: set.spec.replicas - gone - take(surelyAvailable(set)) }))
    .filter(({ set, replicas }) => set.spec.replicas !== replicas);
}

/** Returns true if spec.replicas of the Deployment changed since its sets were last sized. */
export function isScalingEvent(deployment: Deployment, sets: readonly ReplicaSet[]): boolean {
  return sets
    .filter((set) => set.spec.replicas > 0)
    .some((set) => {
      const desired = annotatedNumber(set, desiredReplicasAnnotation);
      return desired !== undefined && desired !== deployment.spec.replicas;
    });
}

/**
 * Returns the sizes after spec.replicas changed. A single active set gets all replicas. During a rollout
 * every active set gets its share, so that the ratio of old to new is kept. Sets whose size stays are listed
 * too, because their annotations must be updated with the new target.
 */
export function proportionalScale(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Scale[] {
  const all = newSet ? [...old, newSet] : old;
  const active = all.filter((set) => set.spec.replicas > 0);
  const { replicas } = deployment.spec;
  if (active.length <= 1) {
    const target = active[0] ?? newSet ?? oldestFirst(old).at(-1);
    return target ? [{ set: target, replicas }] : [];
  }
  if (newSet && isSaturated(deployment, newSet))
    return old.filter((set) => set.spec.replicas > 0).map((set) => ({ set, replicas: 0 }));
  if (deployment.spec.strategy.type !== 'RollingUpdate') return [];
  const allowed = replicas > 0 ? replicas + rolloutLimits(deployment).maxSurge : 0;
  const toAdd = allowed - sumReplicas(active);
  return share(deployment, active, toAdd);
}

function share(deployment: Deployment, active: readonly ReplicaSet[], toAdd: number): Scale[] {
  const byAge = oldestFirst(active);
  const ordered = (toAdd > 0 ? byAge.reverse() : byAge).sort((a, b) => b.spec.replicas - a.spec.replicas);
  let added = 0;
  const sizes = ordered.map((set) => {
    const left = toAdd - added;
    const wanted = left === 0 ? 0 : fraction(deployment, set);
    const part = toAdd > 0 ? Math.min(wanted, left) : Math.max(wanted, left);
    added += part;
    return { set, replicas: set.spec.replicas + part };
  });
  return sizes.map(({ set, replicas }, index) => ({
    set,
    replicas: Math.max(0, index === 0 ? replicas + toAdd - added : replicas),
  }));
}

/**
 * Returns the change of a set's size that corresponds to the change of the total, relative to the total for
 * which it was last sized.
 */
function fraction(deployment: Deployment, set: ReplicaSet): number {
  const { replicas } = deployment.spec;
  if (replicas === 0) return -set.spec.replicas;
  const before = annotatedNumber(set, maxReplicasAnnotation) || deployment.status?.replicas || replicas;
  const after = replicas + rolloutLimits(deployment).maxSurge;
  return Math.round((set.spec.replicas * after) / before) - set.spec.replicas;
}

/** Returns true if the new set has taken over completely. */
function isSaturated(deployment: Deployment, newSet: ReplicaSet): boolean {
  const { replicas } = deployment.spec;
  return (
    newSet.spec.replicas === replicas &&
    annotatedNumber(newSet, desiredReplicasAnnotation) === replicas &&
    newSet.status?.availableReplicas === replicas
  );
}

function annotatedNumber(set: ReplicaSet, annotation: string): number | undefined {
  const digits = set.metadata.annotations?.[annotation]?.match(/^\d+$/)?.[0];
  return digits === undefined ? undefined : Number(digits);
}
