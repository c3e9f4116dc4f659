/** A pod's phase from the statuses of its containers (pkg/kubelet getPhase). */
import { sidecarsOf } from '../../../api/core/v1/container/init-containers.ts';
import { isTerminalPhase } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { ContainerStatus, PodStatus } from '../../../api/core/v1/types.gen.ts';

export type Phase = NonNullable<PodStatus['phase']>;

export interface ContainerStatuses {
  /** Statuses of the init containers, including sidecars. */
  readonly initStatuses: readonly ContainerStatus[];
  readonly containerStatuses: readonly ContainerStatus[];
}

/** Returns the phase. A terminal phase that has been reported never changes. */
export function phaseOf(pod: Pod, { initStatuses, containerStatuses }: ContainerStatuses): Phase {
  const reported = pod.status?.phase;
  if (isTerminalPhase(reported)) return reported;
  const { restartPolicy } = pod.spec;
  const names = new Set(sidecarsOf(pod.spec).map(({ name }) => name));
  const sidecars = initStatuses.filter(({ name }) => names.has(name));
  const steps = initStatuses.filter(({ name }) => !names.has(name));
  const sidecarsRun = sidecars.some(({ state }) => state?.running);
  if (restartPolicy === 'Never' && steps.some(hasFailed)) return sidecarsRun ? 'Pending' : 'Failed';
  if (steps.some(isPending) || waitsForStart(containerStatuses, sidecars)) return 'Pending';
  if ([...containerStatuses, ...sidecars].some(({ state }) => state?.running)) return 'Running';
  return phaseWhenStopped(pod, containerStatuses);
}

/** Returns the phase when all containers have stopped, though some may wait for their restart. */
function phaseWhenStopped({ spec }: Pod, statuses: readonly ContainerStatus[]): Phase {
  if (spec.restartPolicy === 'Always') return 'Running';
  if (statuses.every(({ state }) => state?.terminated?.exitCode === 0)) return 'Succeeded';
  return spec.restartPolicy === 'Never' ? 'Failed' : 'Running';
}

/** Returns true while a container or a sidecar has never run, or the containers wait for a sidecar. */
function waitsForStart(
  containers: readonly ContainerStatus[],
  sidecars: readonly ContainerStatus[],
): boolean {
  const haveRun = containers.some(({ state }) => state?.running ?? state?.terminated);
  if (!haveRun && sidecars.some(({ state, started }) => state?.running && !started)) return true;
  return containers.some(neverRan) || sidecars.some(neverRan);
}

const neverRan = ({ state, lastState }: ContainerStatus) => state?.waiting && !lastState?.terminated;

/** Returns true for an init container that must still run, or that runs, before the pod's own containers. */
const isPending = (status: ContainerStatus) => status.state?.running ?? neverRan(status);

const hasFailed = ({ state, lastState }: ContainerStatus) =>
  isFailedEnd(state?.terminated) || (state?.waiting !== undefined && isFailedEnd(lastState?.terminated));

const isFailedEnd = (end: NonNullable<ContainerStatus['state']>['terminated']) =>
  end !== undefined && (end.exitCode !== 0 || end.reason === 'OOMKilled');
