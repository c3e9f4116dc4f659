/** Patches of workloads and nodes that operators apply. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { textAt, valueAt } from '../apimachinery/fields.ts';

const restartable: readonly string[] = ['Deployment', 'DaemonSet', 'StatefulSet'];

export const isPaused = (workload: JsonObject): boolean => valueAt(workload, 'spec', 'paused') === true;

/**
 * Returns the merge patch that replaces all pods, or the reason why there is none; `time` is the present time
 * in RFC 3339. The workload must have its `kind`.
 */
export function restartPatch(workload: JsonObject, time: string): JsonObject | string {
  if (!restartable.includes(textAt(workload, 'kind'))) return 'restarting is not supported';
  if (isPaused(workload)) return "can't restart paused deployment (run rollout resume first)";
  return {
    spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': time } } } },
  };
}

/** Returns the merge patch that pauses or resumes a Deployment, or the reason why there is none. */
export function pausePatch(workload: JsonObject, pausing: boolean): JsonObject | string {
  if (textAt(workload, 'kind') !== 'Deployment')
    return `${pausing ? 'pausing' : 'resuming'} is not supported`;
  if (isPaused(workload) === pausing) return pausing ? 'is already paused' : 'is not paused';
  return { spec: { paused: pausing || null } };
}

/** Returns the merge patch of a node; the field is removed rather than set to false. */
export const cordonPatch = (isCordoned: boolean): JsonObject => ({
  spec: { unschedulable: isCordoned || null },
});
