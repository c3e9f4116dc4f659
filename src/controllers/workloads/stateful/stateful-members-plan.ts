/** The pods of a StatefulSet and their health: the facts on which its plans are based. Pure. */
import type { StatefulSet } from '../../../api/apps/v1/stateful-set.ts';
import { podAvailable, podReady } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { PersistentVolumeClaim, PodTemplateSpec } from '../../../api/core/v1/types.gen.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';

/** Facts on which the plan of a StatefulSet is based. */
export interface Members {
  readonly set: StatefulSet;
  /**
   * Names of ControllerRevisions. `update` has the template that is rolled out, `current` the previous one.
   */
  readonly revisions: { readonly current: string; readonly update: string };
  readonly currentTemplate: PodTemplateSpec;
  /** Pods of the set whose names have its prefix and an ordinal. */
  readonly pods: readonly Pod[];
  readonly claim: (name: string) => PersistentVolumeClaim | undefined;
  readonly now: number;
}

export const isRunning = (pod: Pod) => pod.status?.phase === 'Running' && podReady(pod);

export const isHealthy = (pod: Pod) => isRunning(pod) && !isTerminating(pod);

export const isAvailable = ({ set, now }: Members, pod: Pod) =>
  podAvailable(pod, set.spec.minReadySeconds ?? 0, now);
