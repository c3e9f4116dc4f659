import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import type { ObjectRef } from '../kinds.ts';
import { conditionOf, isReadyForGood } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import type { Snapshot } from '../snapshot.ts';
import { replicasOf } from '../workload-facts.ts';

export const workloadPods: Rule = {
  kinds: ['deployments.apps', 'replicasets.apps', 'statefulsets.apps', 'daemonsets.apps'],
  symptom: 'A workload has fewer ready pods than it asks for (READY 1/3).',
  cause: 'One of its pods is not ready.',
  advice: 'Mend the pod that the explanation names.',
  find(workload, seen) {
    const { wanted, ready, updated } = replicasOf(workload);
    const isRolled = textAt(workload, 'kind') !== 'Deployment' || updated >= wanted;
    if (ready >= wanted && isRolled) return undefined;
    const isLate = textAt(conditionOf(workload, 'Progressing'), 'reason') === 'ProgressDeadlineExceeded';
    const severity = ready === 0 && wanted > 0 ? 'broken' : 'degraded';
    const count = isRolled
      ? `${ready} of ${wanted} pods are ready`
      : `${updated} of ${wanted} pods have the current template, ${ready} are ready`;
    return {
      severity,
      says: isLate ? `${count}; the rollout has exceeded its deadline` : count,
      because: newestFirst(seen, seen.ownedBy(workload)),
    };
  },
};

/**
 * Returns the pods that are not ready or do not stay ready, and the workloads below, the newest first,
 * because a rollout waits for the newest pods.
 */
function newestFirst(seen: Snapshot, refs: readonly ObjectRef[]): readonly ObjectRef[] {
  const created = (ref: ObjectRef) => metadataOf(seen.get(ref) ?? {}).creationTimestamp ?? '';
  return refs
    .filter((ref) => ref.key !== 'pods' || !isReadyForGood(seen.get(ref) ?? {}, seen.nowMs))
    .toSorted((a, b) => (created(a) === created(b) ? 0 : created(a) < created(b) ? 1 : -1));
}
