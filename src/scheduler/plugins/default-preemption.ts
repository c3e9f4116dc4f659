/**
 * Chooses the pods to evict for a pod of a higher priority, on the node where the eviction costs least
 * (upstream: pkg/scheduler/framework/preemption, plugins/defaultpreemption).
 */

import { podCondition } from '../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { matches } from '../../apimachinery/labels.ts';
import type { Budget, FailedAttempt, Plugin, Remedy, Trial } from '../framework.ts';
import type { NodeInfo, PodInfo } from '../node-info.ts';

export const defaultPreemption: Plugin = { name: 'DefaultPreemption', postFilter };

/** Reason of the DisruptionTarget condition of a victim. */
export const preemptedReason = 'PreemptionByScheduler';

/** Minimum number of candidates that are compared; otherwise a tenth of the nodes (upstream's defaults). */
const minCandidates = 100;

interface Candidate {
  readonly node: string;
  /** Victims, the highest priority first. */
  readonly victims: readonly PodInfo[];
  /** Number of victims whose eviction violates a budget. */
  readonly violations: number;
}

/** Returns the remedy, or undefined if no pod of a lower priority exists. */
function postFilter(attempt: FailedAttempt): Remedy | undefined {
  const { pod, cluster, nodes } = attempt;
  if (cluster.lowestPriority >= pod.priority) return undefined;
  if (isWaiting(attempt))
    return { kind: 'wait', why: 'not eligible due to a terminating pod on the nominated node' };
  const helped = nodes.flatMap(({ node, rejections }) => {
    const info = rejections.some(({ unresolvable }) => unresolvable) ? undefined : cluster.node(node);
    return info && hasLower(info, pod) ? [info] : [];
  });
  if (helped.length === 0) return undefined;
  if (pod.pod.spec.preemptionPolicy === 'Never')
    return { kind: 'none', why: 'not eligible due to preemptionPolicy=Never' };
  const best = cheapest(candidates(helped, attempt));
  if (!best) return { kind: 'none', why: 'No preemption victims found for incoming pod' };
  return { kind: 'preempt', node: best.node, victims: best.victims };
}

/**
 * Returns true if victims of this pod are still terminating on its nominated node, and the node would then
 * fit.
 */
function isWaiting({ nominated, nodes, cluster, pod }: FailedAttempt): boolean {
  const node = nominated === undefined ? undefined : cluster.node(nominated);
  if (!node) return false;
  const { rejections = [] } = nodes.find((one) => one.node === nominated) ?? {};
  if (rejections.some(({ unresolvable }) => unresolvable)) return false;
  return isClearing(node, pod.priority);
}

/** Returns true if pods of a lower priority are terminating on the node because of preemption. */
export function isClearing(node: NodeInfo, priority: number): boolean {
  for (const other of node.pods.values())
    if (other.priority < priority && leavesByPreemption(other.pod)) return true;
  return false;
}

const leavesByPreemption = (pod: Pod): boolean => {
  const condition = podCondition(pod, 'DisruptionTarget');
  return (
    pod.metadata.deletionTimestamp !== undefined &&
    condition?.status === 'True' &&
    condition.reason === preemptedReason
  );
};

function hasLower(node: NodeInfo, { priority }: PodInfo): boolean {
  for (const other of node.pods.values()) if (other.priority < priority) return true;
  return false;
}

function candidates(nodes: readonly NodeInfo[], attempt: FailedAttempt): readonly Candidate[] {
  const budgets = attempt.budgets();
  const enough = Math.max(minCandidates, Math.floor(attempt.cluster.nodes.length / 10));
  const found: Candidate[] = [];
  let harmless = 0;
  for (let index = 0; index < nodes.length; index++) {
    const node = nodes[(attempt.offset + index) % nodes.length] as NodeInfo;
    const candidate = victimsOn(node, attempt.trial(node), attempt.pod, budgets);
    if (!candidate) continue;
    found.push(candidate);
    if (candidate.violations === 0) harmless++;
    if (harmless > 0 && found.length >= enough) break;
  }
  return found;
}

/**
 * Returns a minimal set of victims: all pods of a lower priority are removed in a simulation, and the more
 * important ones are added back first while the pod fits.
 */
function victimsOn(
  node: NodeInfo,
  trial: Trial,
  pod: PodInfo,
  budgets: readonly Budget[],
): Candidate | undefined {
  const lower = [...node.pods.values()].filter((other) => other.priority < pod.priority).sort(byImportance);
  for (const other of lower) trial.remove(other);
  if (!trial.fits()) return undefined;
  const [violating, others] = byBudgets(lower, budgets);
  const goes = (other: PodInfo) => {
    trial.add(other);
    if (trial.fits()) return false;
    trial.remove(other);
    return true;
  };
  const violated = violating.filter(goes);
  const victims = [...violated, ...others.filter(goes)].sort(byImportance);
  // The pod fits without an eviction: something has changed in the meantime.
  return victims.length === 0 ? undefined : { node: node.name, victims, violations: violated.length };
}

/** Sorts by priority, highest first, then by start, earliest first. */
function byImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a) - startOf(b);
}

/** Returns the start in milliseconds; the maximum for a pod that has not started. */
const startOf = ({ pod }: PodInfo): number => {
  const start = Date.parse(pod.status?.startTime ?? '');
  return Number.isNaN(start) ? Number.MAX_SAFE_INTEGER : start;
};

/** Returns the pods whose eviction violates a budget, and the others, both in the given order. */
function byBudgets(pods: readonly PodInfo[], budgets: readonly Budget[]): [PodInfo[], PodInfo[]] {
  const left = new Map(budgets.map((budget) => [budget, budget.allowed]));
  const [violating, others]: [PodInfo[], PodInfo[]] = [[], []];
  for (const info of pods) {
    const charged = budgets.filter((budget) => isCharged(budget, info.pod));
    for (const budget of charged) left.set(budget, (left.get(budget) ?? 0) - 1);
    const violates = charged.some((budget) => (left.get(budget) ?? 0) < 0);
    (violates ? violating : others).push(info);
  }
  return [violating, others];
}

/** Returns true if an eviction of the pod counts against the budget. */
function isCharged({ namespace, disrupted, selector }: Budget, { metadata }: Pod): boolean {
  if (namespace !== metadata.namespace || disrupted.has(metadata.name)) return false;
  return selector.requirements.length > 0 && matches(selector, metadata.labels);
}

/** Costs of a candidate in order of importance; lower is better. */
const costs: readonly ((candidate: Candidate) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0]?.priority ?? 0,
  // The offset makes priorities positive, so that fewer pods of a negative priority cost less than more of
  // them.
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
  ({ victims }) => victims.length,
  // The most important victims should have run for the shortest time.
  ({ victims }) =>
    -Math.min(...victims.filter(({ priority }) => priority === victims[0]?.priority).map(startOf)),
];

const cheapest = (all: readonly Candidate[]): Candidate | undefined =>
  all.reduce<Candidate | undefined>((best, one) => (best && !isCheaper(one, best) ? best : one), undefined);

function isCheaper(one: Candidate, other: Candidate): boolean {
  for (const cost of costs) {
    const difference = cost(one) - cost(other);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
