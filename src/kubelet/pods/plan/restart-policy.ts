/**
 * Decides which containers of a pod restart after they have ended, from the pod's policy and their role in
 * the pod.
 */
import { initContainersOf, isSidecar } from '../../../api/core/v1/container/init-containers.ts';
import type { PodSpec } from '../../../api/core/v1/types.gen.ts';
import type { ContainerState } from '../../runtime/runtime.ts';

type End = Pick<ContainerState, 'name' | 'exitCode' | 'oomKilled'>;

/**
 * Returns true when an init container has failed; one that ran out of memory has failed whatever its exit
 * code is (upstream: isInitContainerFailed).
 */
export const isFailure = ({ exitCode, oomKilled }: Pick<End, 'exitCode' | 'oomKilled'>) =>
  exitCode !== 0 || oomKilled;

/** Returns true when the container restarts because of its policy alone. */
export function restartsAfter(spec: PodSpec, ended: End): boolean {
  const { restartPolicy } = spec;
  const init = initContainersOf(spec).find(({ name }) => name === ended.name);
  if (init) return isSidecar(init) || (isFailure(ended) && restartPolicy !== 'Never');
  if (spec.ephemeralContainers?.some(({ name }) => name === ended.name)) return false;
  if (restartPolicy === 'Never') return false;
  return restartPolicy === 'OnFailure' ? ended.exitCode !== 0 : true;
}
