/** Plans the status of a StatefulSet. Pure. */
import type { StatefulSet } from '../../../api/apps/v1/stateful-set.ts';
import { podAvailableIn, podReady } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { revisionOf } from './stateful-pods-plan.ts';

export type StatefulSetStatus = NonNullable<StatefulSet['status']>;

export interface StatusPlan {
  readonly status: StatefulSetStatus;
  readonly changed: boolean;
  /** Milliseconds until a ready pod becomes available by the passing of time alone. */
  readonly nextAvailableIn: number | undefined;
}

/** Plans the status. `going` are the pods that were just deleted. */
export function planStatus(
  set: StatefulSet,
  revisions: { readonly current: string | undefined; readonly update: string | undefined },
  pods: readonly Pod[],
  going: ReadonlySet<Pod>,
  now: number,
): StatusPlan {
  const { replicas, updateStrategy, minReadySeconds = 0 } = set.spec;
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && podReady(pod));
  const waits = ready.map((pod) => podAvailableIn(pod, minReadySeconds, now));
  const staying = pods.filter((pod) => !isTerminating(pod) && !going.has(pod));
  const of = (revision: string | undefined) => staying.filter((pod) => revisionOf(pod) === revision).length;
  const counts = { ready: ready.length, updated: of(revisions.update), current: of(revisions.current) };
  // A rollout is complete when every pod has the new template and is ready.
  const complete =
    updateStrategy.type === 'RollingUpdate' &&
    [counts.updated, counts.ready, pods.length].every((count) => count === replicas);
  const status: StatefulSetStatus = {
    ...set.status,
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    readyReplicas: counts.ready || undefined,
    availableReplicas: waits.filter((wait) => wait === 0).length,
    currentReplicas: (complete ? counts.updated : counts.current) || undefined,
    updatedReplicas: counts.updated || undefined,
    currentRevision: complete ? revisions.update : revisions.current,
    updateRevision: revisions.update,
    collisionCount: set.status?.collisionCount ?? 0,
  };
  const later = waits.flatMap((wait) => wait || []);
  return {
    status,
    changed: !deepEqual(status, set.status),
    nextAvailableIn: later.length > 0 ? Math.min(...later) : undefined,
  };
}
