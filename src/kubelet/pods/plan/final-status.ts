/** Final status of a deleted pod once none of its containers runs (pkg/kubelet/status: TerminatePod). */
import { isSidecar } from '../../../api/core/v1/container/init-containers.ts';
import { isTerminalPhase } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { ContainerStatus, PodSpec } from '../../../api/core/v1/types.gen.ts';
import { unknownEnd } from './container-status.ts';
import type { ContainerStatuses, Phase } from './pod-phase.ts';

/** Returns the final phase: no container starts again, whatever the restart policy is. */
export function finalPhase({ status }: Pod, { containerStatuses }: ContainerStatuses): Phase {
  if (isTerminalPhase(status?.phase)) return status.phase;
  return containerStatuses.every(hasSucceeded) ? 'Succeeded' : 'Failed';
}

/**
 * Returns the statuses with every container that had begun as ended; a container whose end was not observed
 * has failed.
 */
export function finalStatuses(spec: PodSpec, statuses: ContainerStatuses): ContainerStatuses {
  const { initStatuses, containerStatuses } = statuses;
  const last = initStatuses.findLastIndex(hasBegun);
  return {
    initStatuses: initStatuses.map((status, index) => (index <= Math.max(last, 0) ? ended(status) : status)),
    containerStatuses: isInitialized(spec, statuses) ? containerStatuses.map(ended) : containerStatuses,
  };
}

const hasSucceeded = ({ state }: ContainerStatus) => state?.terminated?.exitCode === 0;

const hasBegun = ({ state, lastState }: ContainerStatus) =>
  state?.waiting === undefined || lastState?.terminated !== undefined;

const ended = (status: ContainerStatus): ContainerStatus =>
  status.state?.terminated
    ? status
    : { ...status, ready: false, started: false, state: { terminated: unknownEnd(status) } };

function isInitialized(spec: PodSpec, { initStatuses, containerStatuses }: ContainerStatuses): boolean {
  const wanted = spec.initContainers?.at(-1);
  const status = initStatuses.at(-1);
  if (!wanted || !status || containerStatuses.some(hasBegun)) return true;
  if (isSidecar(wanted)) return status.started === true;
  return hasSucceeded(status) || status.lastState?.terminated?.exitCode === 0;
}
