/**
 * Plans the conditions and taints of a node, from its reported conditions and the time without heartbeats.
 * Pure. Follows k8s.io/kubernetes pkg/controller/nodelifecycle: conditions Unknown, taints from conditions,
 * and no eviction while it is more likely that the control plane is cut off than that the nodes have failed.
 */
import type { Node, Taint } from '../../api/core/v1/node/node.ts';
import { taintKeys } from '../../api/core/v1/node/taints.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import type { Condition } from '../../apimachinery/schema.ts';

/**
 * Share of unready nodes. `partial`: pods are not evicted from any further node. `full`: no node sends
 * heartbeats, so no pod is changed and running evictions are cancelled.
 */
export type Disruption = 'none' | 'partial' | 'full';

/** Upstream's unhealthyZoneThreshold, and the number of nodes up to which it is ignored. */
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
  /** Milliseconds of silence after which the node counts as lost. */
  readonly grace: number;
  readonly disruption: Disruption;
  /** Current time as a timestamp. */
  readonly now: string;
}

export interface NodeLifecyclePlan {
  /** All conditions in their new state; undefined if nothing changes. */
  readonly conditions: Condition[] | undefined;
  /** All taints in their new state; undefined if nothing changes. */
  readonly taints: Taint[] | undefined;
  /** True if the node's pods are unreachable and must no longer be endpoints. */
  readonly lost: boolean;
  /** Milliseconds until the node counts as lost; undefined if it already does. */
  readonly lostIn: number | undefined;
}

/** Plans the changes of one node. For a converged node the plan has neither conditions nor taints. */
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

/** Conditions that a kubelet reports. */
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

/** Returns the planned taints. Taints of other writers are kept, as are unchanged taints with their time. */
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

/**
 * Returns true if the node has the taint with effect NoExecute. An existing one is kept unless no node sends
 * heartbeats; a silent node gets one after its grace period.
 */
function evicts(key: string, { node, disruption, silent }: TaintInput): boolean {
  if (disruption === 'full') return false;
  const already = node.spec.taints?.some((taint) => taint.effect === 'NoExecute' && taint.key === key);
  return already || (disruption === 'none' && (silent || key !== taintKeys.unreachable));
}

const sameTaint = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect;
