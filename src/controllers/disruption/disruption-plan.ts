/**
 * Computes the status of a PodDisruptionBudget: how many of its pods may be disrupted (upstream:
 * pkg/controller/disruption). Pure.
 */

import { podReady } from '../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { resolveCount } from '../../api/int-or-percent.ts';
import { type BudgetStatus, conditionsOf, failedConditions } from '../../api/policy/v1/disruption-status.ts';
import type { PodDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { controllerOf, isTerminating, type OwnerReference } from '../../apimachinery/meta.ts';
import { rfc3339 } from '../../base/time.ts';

/** Milliseconds within which the pod's deletion must follow an eviction (upstream: DeletionTimeout). */
export const deletionTimeoutMs = 120_000;

/**
 * Returns the desired number of pods of a controller, and the uid of the controller that decides it;
 * undefined if unknown.
 */
export type ScaleOf = (
  owner: OwnerReference,
  namespace: string,
) => { readonly uid: string; readonly replicas: number } | undefined;

export interface BudgetEvent {
  readonly about: 'budget' | Pod;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface BudgetPlan {
  /** Undefined if the budget already has this status. */
  readonly status: BudgetStatus | undefined;
  readonly toEmit: readonly BudgetEvent[];
  /** Milliseconds until an eviction without a deletion no longer counts. */
  readonly recheckIn: number | undefined;
}

interface Wanted {
  readonly expected: number;
  readonly healthy: number;
  readonly unmanaged: readonly Pod[];
}

/**
 * Plans the status of a budget. `pods` are the pods that the budget selects; `now` is in milliseconds since
 * the epoch.
 */
export function planBudget(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  scaleOf: ScaleOf,
  now: number,
): BudgetPlan {
  const toEmit: BudgetEvent[] = [];
  if (pods.length === 0) toEmit.push(about('Normal', 'NoPods', 'No matching pods found'));
  const wanted = wantedOf(budget, pods, scaleOf);
  if (typeof wanted === 'string') {
    const message = `Failed to calculate the number of expected pods: ${wanted}`;
    toEmit.push(about('Warning', 'CalculateExpectedPodCountFailed', message));
    return { status: changed(budget, failed(budget, wanted, now)), toEmit, recheckIn: undefined };
  }
  if (wanted.unmanaged.length > 0) toEmit.push(about('Warning', 'UnmanagedPods', unmanagedMessage(wanted)));
  const { disrupted, late, recheckIn } = disruptedOf(budget, pods, now);
  toEmit.push(...late.map((pod) => notDeleted(budget, pod)));
  const currentHealthy = pods.filter(
    (pod) => !isTerminating(pod) && !disrupted.has(pod.metadata.name) && podReady(pod),
  ).length;
  // If there are no pods, no disruption is allowed: the first pods must not be evicted before they have been
  // counted.
  const left = wanted.expected > 0 ? Math.max(0, currentHealthy - wanted.healthy) : 0;
  const numbers = {
    observedGeneration: budget.metadata.generation,
    disruptionsAllowed: left,
    currentHealthy,
    desiredHealthy: wanted.healthy,
    expectedPods: wanted.expected,
    conditions: budget.status?.conditions,
  };
  const status: BudgetStatus = {
    ...numbers,
    ...(disrupted.size > 0 && { disruptedPods: Object.fromEntries(disrupted) }),
    conditions: conditionsOf(numbers, rfc3339(now)),
  };
  return { status: changed(budget, status), toEmit, recheckIn };
}

const about = (type: BudgetEvent['type'], reason: string, message: string): BudgetEvent => ({
  about: 'budget',
  type,
  reason,
  message,
});

const changed = (budget: PodDisruptionBudget, status: BudgetStatus) =>
  deepEqual(status, budget.status) ? undefined : status;

function failed({ status }: PodDisruptionBudget, why: string, now: number): BudgetStatus {
  const before = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...status };
  return { ...before, disruptionsAllowed: 0, conditions: failedConditions(status, why, rfc3339(now)) };
}

/** Returns the desired numbers; a text is the reason why they are unknown. */
function wantedOf({ spec }: PodDisruptionBudget, pods: readonly Pod[], scaleOf: ScaleOf): Wanted | string {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable === undefined && minAvailable === undefined)
    return { expected: 0, healthy: 0, unmanaged: [] };
  if (maxUnavailable === undefined && typeof minAvailable === 'number')
    return { expected: pods.length, healthy: minAvailable, unmanaged: [] };
  const scale = expectedOf(pods, scaleOf);
  if (typeof scale === 'string') return scale;
  const healthy =
    maxUnavailable === undefined
      ? resolveCount(minAvailable ?? 0, scale.expected, Math.ceil)
      : Math.max(0, scale.expected - resolveCount(maxUnavailable, scale.expected, Math.ceil));
  return { ...scale, healthy };
}

/** Returns the sum of the desired pods of the controllers, each controller counted once. */
function expectedOf(pods: readonly Pod[], scaleOf: ScaleOf): Omit<Wanted, 'healthy'> | string {
  const scales = new Map<string, number>();
  const known = new Set<string>();
  const unmanaged: Pod[] = [];
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (!owner) unmanaged.push(pod);
    else if (!known.has(owner.uid)) {
      known.add(owner.uid);
      const scale = scaleOf(owner, pod.metadata.namespace ?? '');
      if (!scale) return `found no controllers for pod ${JSON.stringify(pod.metadata.name)}`;
      scales.set(scale.uid, scale.replicas);
    }
  }
  return { expected: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0), unmanaged };
}

const unmanagedMessage = ({ unmanaged }: Wanted) =>
  `${unmanaged.length} of the selected pods, such as ${unmanaged[0]?.metadata.name}, have no controller and are not counted as expected: set .spec.minAvailable to a number of pods to have them counted`;

/** Returns the pods whose eviction was announced and that still exist. */
function disruptedOf({ status }: PodDisruptionBudget, pods: readonly Pod[], now: number) {
  // Maps are used because a pod may be named `constructor`.
  const announced = new Map(Object.entries(status?.disruptedPods ?? {}));
  const disrupted = new Map<string, string>();
  const late: Pod[] = [];
  let recheckIn: number | undefined;
  for (const pod of pods) {
    const since = announced.get(pod.metadata.name);
    if (since === undefined || isTerminating(pod)) continue;
    const left = Date.parse(since) + deletionTimeoutMs - now;
    if (left <= 0) late.push(pod);
    else {
      disrupted.set(pod.metadata.name, since);
      recheckIn = Math.min(left, recheckIn ?? left);
    }
  }
  return { disrupted, late, recheckIn };
}

const notDeleted = ({ metadata }: PodDisruptionBudget, pod: Pod): BudgetEvent => ({
  about: pod,
  type: 'Warning',
  reason: 'NotDeleted',
  message: `Pod was expected by PDB ${metadata.namespace}/${metadata.name} to be deleted but it wasn't`,
});
