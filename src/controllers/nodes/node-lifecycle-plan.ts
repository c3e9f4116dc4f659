/**
 * What is to be written about a node, from what it says of itself and for how long it has been silent. Pure.
 * Follows k8s.io/kubernetes pkg/controller/nodelifecycle: conditions Unknown, taints from conditions, and nothing
 * that moves pods while it is more likely that the control plane is cut off than that the nodes are dead.
 */
import type { Node, Taint } from '../../api/core/v1/node.ts';
import { taintKeys } from '../../api/core/v1/taints.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import type { Condition } from '../../apimachinery/schema.ts';

/**
 * How many nodes are in trouble at once. `partial`: no further node gets its pods evicted; `full`: nobody is
 * heard at all, so nothing of any pod is touched and evictions under way are called off.
 */
export type Disruption = 'none' | 'partial' | 'full';

/** Upstream's unhealthyZoneThreshold, and the number below which it does not count. */
const partialShare = 0.55;
const fewNodes = 2;

export function disruptionOf(nodes: number, unready: number): Disruption {
  if (nodes > 0 && unready === nodes) return 'full';
  return unready > fewNodes && unready / nodes >= partialShare ? 'partial' : 'none';
}

export interface NodeObservation {
  readonly node: Node;
  /** Milliseconds without a heartbeat in which one could have arrived. */
  readonly silence: number;
  /** Milliseconds of silence after which it counts as lost. */
  readonly grace: number;
  readonly disruption: Disruption;
  /** Now, as timestamps are written. */
  readonly now: string;
}

export interface NodeLifecyclePlan {
  /** All conditions as they should be; undefined when nothing changes. */
  readonly conditions: Condition[] | undefined;
  /** All taints as they should be; undefined when nothing changes. */
  readonly taints: Taint[] | undefined;
  /** Its pods are unreachable and must no longer be endpoints. */
  readonly lost: boolean;
  /** Milliseconds until it has been silent for too long; undefined: it has been already. */
  readonly lostIn: number | undefined;
}

/** A converged node gives a plan without conditions and taints. */
export function planNode(observation: NodeObservation): NodeLifecyclePlan {
  const { node, silence, grace, disruption, now } = observation;
  const silent = silence >= grace;
  const before = node.status?.conditions ?? [];
  const conditions = silent ? unknownConditions(node, before, now) : before;
  const taints = plannedTaints({ ...observation, conditions, silent });
  return {
    conditions: deepEqual(conditions, before) ? undefined : conditions,
    taints: deepEqual(taints, node.spec.taints ?? []) ? undefined : taints,
    lost: silent && disruption !== 'full',
    lostIn: silent ? undefined : grace - silence,
  };
}

export const readiness = (node: Node): Condition['status'] | undefined =>
  node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;

/** The conditions that a node agent reports. */
const agentConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

function unknownConditions(node: Node, before: readonly Condition[], now: string): Condition[] {
  const changed = before.map((condition) =>
    agentConditions.includes(condition.type) && condition.status !== 'Unknown'
      ? {
          ...condition,
          status: 'Unknown' as const,
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
          lastTransitionTime: now,
        }
      : condition,
  );
  const missing = agentConditions
    .filter((type) => !before.some((condition) => condition.type === type))
    .map((type) => ({
      type,
      status: 'Unknown' as const,
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: node.metadata.creationTimestamp,
      lastTransitionTime: now,
    }));
  return [...changed, ...missing];
}

const taintsOfConditions: readonly (readonly [string, Condition['status'], string])[] = [
  ['Ready', 'False', taintKeys.notReady],
  ['Ready', 'Unknown', taintKeys.unreachable],
  ['MemoryPressure', 'True', taintKeys.memoryPressure],
  ['DiskPressure', 'True', taintKeys.diskPressure],
  ['PIDPressure', 'True', taintKeys.pidPressure],
  ['NetworkUnavailable', 'True', taintKeys.networkUnavailable],
];
const evictingKeys: readonly string[] = [taintKeys.notReady, taintKeys.unreachable];
const noScheduleKeys: readonly string[] = [
  ...taintsOfConditions.map(([, , key]) => key),
  taintKeys.unschedulable,
];

const isManaged = ({ key, effect }: Taint) =>
  (effect === 'NoSchedule' && noScheduleKeys.includes(key)) ||
  (effect === 'NoExecute' && evictingKeys.includes(key));

interface TaintInput extends NodeObservation {
  readonly conditions: readonly Condition[];
  readonly silent: boolean;
}

/** Taints of others stay as they are, and so does the time of our own that stay. */
function plannedTaints(input: TaintInput): Taint[] {
  const { node, conditions, now } = input;
  const before = node.spec.taints ?? [];
  const keys = taintsOfConditions
    .filter(([type, status]) => conditions.some((one) => one.type === type && one.status === status))
    .map(([, , key]) => key);
  if (node.spec.unschedulable) keys.push(taintKeys.unschedulable);
  const wanted: Taint[] = keys.map((key) => ({ key, effect: 'NoSchedule', timeAdded: now }));
  for (const key of keys) {
    if (evictingKeys.includes(key) && evicts(key, input))
      wanted.push({ key, effect: 'NoExecute', timeAdded: now });
  }
  const kept = before.filter((taint) => !isManaged(taint) || wanted.some((one) => sameTaint(one, taint)));
  return [...kept, ...wanted.filter((taint) => !kept.some((one) => sameTaint(one, taint)))];
}

/** Taints that evict already stay unless no node is heard; a silent node gets one after its grace period. */
function evicts(key: string, { node, disruption, silent }: TaintInput): boolean {
  if (disruption === 'full') return false;
  const already = node.spec.taints?.some((taint) => taint.effect === 'NoExecute' && taint.key === key);
  return already || (disruption === 'none' && (silent || key !== taintKeys.unreachable));
}

const sameTaint = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect;
