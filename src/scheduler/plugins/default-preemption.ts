/**
 * Which pods go so that one of a higher priority can come: on the node where it costs least (upstream:
 * pkg/scheduler/framework/preemption, plugins/defaultpreemption).
 */
import type { Pod } from '../../api/core/v1/pod.ts';
import { podCondition } from '../../api/core/v1/pod-conditions.ts';
import { matches } from '../../apimachinery/labels.ts';
import type { Budget, FailedAttempt, NodeInfo, Plugin, PodInfo, Remedy, Trial } from '../framework.ts';

export const defaultPreemption: Plugin = { name: 'DefaultPreemption', postFilter };

/** The reason of the condition that a victim is given. */
export const preemptedReason = 'PreemptionByScheduler';

/** Candidates that are compared: a tenth of the nodes, and this many at least (upstream's defaults). */
const fewestCandidates = 100;

interface Candidate {
  readonly node: string;
  /** Highest priority first. */
  readonly victims: readonly PodInfo[];
  /** How many of them a budget does not allow to go. */
  readonly violations: number;
}

/** Undefined where no pod of a lower priority is in the way. */
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

/** Whether pods are on their way that were asked to go for this one, and the node would do then. */
function isWaiting({ nominated, nodes, cluster, pod }: FailedAttempt): boolean {
  const node = nominated === undefined ? undefined : cluster.node(nominated);
  if (!node) return false;
  const { rejections = [] } = nodes.find((one) => one.node === nominated) ?? {};
  if (rejections.some(({ unresolvable }) => unresolvable)) return false;
  return isClearing(node, pod.priority);
}

/** Whether pods of a lower priority are leaving the node because they were asked to. */
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
  const enough = Math.max(fewestCandidates, Math.floor(attempt.cluster.nodes.length / 10));
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

/** As few as may be: all of a lower priority go in thought, and the more important ones come back first while the pod fits. */
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
  // It fits beside all of them: by now something has changed, and no pod needs to go.
  return victims.length === 0 ? undefined : { node: node.name, victims, violations: violated.length };
}

/** Higher priority first, then who has run longer. */
function byImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a) - startOf(b);
}

/** Milliseconds; of a pod that has not started, the end of time. */
const startOf = ({ pod }: PodInfo): number => {
  const start = Date.parse(pod.status?.startTime ?? '');
  return Number.isNaN(start) ? Number.MAX_SAFE_INTEGER : start;
};

/** Those whose going a budget does not allow, and those whose it does, each in the order given. */
function byBudgets(pods: readonly PodInfo[], budgets: readonly Budget[]): [PodInfo[], PodInfo[]] {
  const left = budgets.map(({ allowed }) => allowed);
  const [violating, others]: [PodInfo[], PodInfo[]] = [[], []];
  for (const info of pods) {
    const { name, namespace, labels } = info.pod.metadata;
    let violates = false;
    for (const [index, budget] of budgets.entries()) {
      if (budget.namespace !== namespace || budget.disrupted.has(name)) continue;
      if (budget.selector.requirements.length === 0 || !matches(budget.selector, labels)) continue;
      left[index] = (left[index] ?? 0) - 1;
      if ((left[index] ?? 0) < 0) violates = true;
    }
    (violates ? violating : others).push(info);
  }
  return [violating, others];
}

/** What a candidate costs, what weighs most first; less is better. */
const costs: readonly ((candidate: Candidate) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0]?.priority ?? 0,
  // Made positive, so that fewer pods of a negative priority cost less than more of them.
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
  ({ victims }) => victims.length,
  // The most important ones should have run for as short as may be.
  ({ victims }) =>
    -Math.min(...victims.filter(({ priority }) => priority === victims[0]?.priority).map(startOf)),
];

function cheapest(all: readonly Candidate[]): Candidate | undefined {
  return all.reduce<Candidate | undefined>((best, one) => {
    if (!best) return one;
    for (const cost of costs) {
      const difference = cost(one) - cost(best);
      if (difference !== 0) return difference < 0 ? one : best;
    }
    return best;
  }, undefined);
}
