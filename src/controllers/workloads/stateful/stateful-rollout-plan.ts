/**
 * Plans which pods of a StatefulSet are deleted because they have another template (k8s.io/kubernetes
 * pkg/controller/statefulset). Pure.
 */

import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { resolveCount } from '../../../api/int-or-percent.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { isAvailable, isHealthy, type Members } from './stateful-members-plan.ts';
import { ordinals, revisionOf } from './stateful-pods-plan.ts';

/** Returns the pods to delete, from the last ordinal to the first, down to the partition. */
export function planRollout(members: Members, byOrdinal: ReadonlyMap<number, Pod>): Pod[] {
  const { type, rollingUpdate } = members.set.spec.updateStrategy;
  if (type === 'OnDelete') return [];
  return rollingUpdate?.maxUnavailable === undefined
    ? planNext(members, byOrdinal)
    : planSeveral(members, byOrdinal, rollingUpdate.maxUnavailable);
}

/** Returns the highest pod of another template if all pods above it are healthy. */
function planNext({ set, revisions }: Members, byOrdinal: ReadonlyMap<number, Pod>): Pod[] {
  const { start, end } = ordinals(set);
  const { partition = 0 } = set.spec.updateStrategy.rollingUpdate ?? {};
  for (let ordinal = end - 1; ordinal >= start + partition; ordinal--) {
    const pod = byOrdinal.get(ordinal);
    if (!pod) return [];
    if (revisionOf(pod) !== revisions.update && !isTerminating(pod)) return [pod];
    if (!isHealthy(pod)) return [];
  }
  return [];
}

/**
 * Returns pods up to the maximum of unavailable pods, at least one. Every unavailable pod of the set counts,
 * including those below the partition. An unready pod of another template does not count against the limit
 * (upstream keeps it, so that a rollout that would repair it is blocked).
 */
function planSeveral(
  members: Members,
  byOrdinal: ReadonlyMap<number, Pod>,
  maxUnavailable: number | string,
): Pod[] {
  const { set, revisions } = members;
  const { start, end } = ordinals(set);
  const { partition = 0 } = set.spec.updateStrategy.rollingUpdate ?? {};
  const wanted = [...byOrdinal]
    .filter(([ordinal]) => ordinal >= start && ordinal < end)
    .sort(([a], [b]) => b - a);
  const available = wanted.filter(([, pod]) => isHealthy(pod) && isAvailable(members, pod)).length;
  const unavailable = set.spec.replicas - available;
  let allowed = Math.max(1, resolveCount(maxUnavailable, set.spec.replicas, Math.floor)) - unavailable;
  const going: Pod[] = [];
  for (const [ordinal, pod] of wanted) {
    if (ordinal < start + partition) break;
    if (revisionOf(pod) === revisions.update || isTerminating(pod)) continue;
    if (isHealthy(pod) && --allowed < 0) break;
    going.push(pod);
  }
  return going;
}
