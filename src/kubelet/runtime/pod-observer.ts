/** Acts on the running containers of some pods, before the agent plans a step of the pod. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { ObservedPod } from './observed-pod.ts';

export interface PodObserver {
  /**
   * Called at each step of the pod. Resolves with the reason why the pod must end; undefined for none.
   * Rejects when the step must be repeated.
   */
  see(
    pod: Pod,
    observed: ObservedPod,
  ): Promise<{ readonly reason: string; readonly message: string } | undefined>;
  /** Called when the API server no longer has the pod. */
  forget(uid: string): void;
}
