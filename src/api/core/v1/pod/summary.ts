/**
 * READY, STATUS and RESTARTS of `kubectl get pods`. The precedence of reasons follows printPod of upstream's
 * pkg/printers/internalversion: init containers first, then the first container with a reason for not
 * running, then a deletion.
 */

import { initContainersOf, isSidecar } from '../container/init-containers.ts';
import type { ContainerStatus, Pod } from '../types.gen.ts';
import { isPodTerminal, podCondition, podReady } from './conditions.ts';

export interface PodSummary {
  readonly readyContainers: number;
  readonly totalContainers: number;
  readonly reason: string;
  readonly restarts: number;
  /** Milliseconds since the epoch of the latest restart; undefined when none is recorded. */
  readonly lastRestart: number | undefined;
}

interface Restarts {
  readonly count: number;
  readonly last: number | undefined;
}

interface InitProgress {
  /** Reason why the pod still initializes; undefined once all init containers are done. */
  readonly reason: string | undefined;
  readonly readySidecars: number;
  readonly restarts: Restarts;
  readonly sidecarRestarts: Restarts;
}

const noRestarts: Restarts = { count: 0, last: undefined };

function addRestarts(restarts: Restarts, status: ContainerStatus): Restarts {
  const finished = Date.parse(status.lastState?.terminated?.finishedAt ?? '');
  const last = Number.isNaN(finished) ? restarts.last : Math.max(finished, restarts.last ?? finished);
  return { count: restarts.count + status.restartCount, last };
}

/** Returns the names of init containers, and of the sidecars among them. */
function initContainers({ spec }: Pod): { names: string[]; sidecars: Set<string> } {
  const list = initContainersOf(spec);
  return {
    names: list.map(({ name }) => name),
    sidecars: new Set(list.filter(isSidecar).map(({ name }) => name)),
  };
}

function exitReason(terminated: {
  reason?: string | undefined;
  signal?: number | undefined;
  exitCode: number;
}) {
  if (terminated.reason) return terminated.reason;
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`;
}

function unfinishedInitReason(status: ContainerStatus, index: number, total: number): string {
  const { terminated, waiting } = status.state ?? {};
  if (terminated) return `Init:${exitReason(terminated)}`;
  if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
  return `Init:${index}/${total}`;
}

function initProgress(pod: Pod): InitProgress {
  const { names, sidecars } = initContainers(pod);
  let readySidecars = 0;
  let restarts = noRestarts;
  let sidecarRestarts = noRestarts;
  for (const [index, status] of (pod.status?.initContainerStatuses ?? []).entries()) {
    const sidecar = sidecars.has(status.name);
    restarts = addRestarts(restarts, status);
    if (sidecar) sidecarRestarts = addRestarts(sidecarRestarts, status);
    if (hasSucceeded(status)) continue;
    if (!isStartedSidecar(status, sidecar)) {
      const reason = unfinishedInitReason(status, index, names.length);
      return { reason, readySidecars, restarts, sidecarRestarts };
    }
    if (status.ready) readySidecars++;
  }
  return { reason: undefined, readySidecars, restarts, sidecarRestarts };
}

const hasSucceeded = ({ state }: ContainerStatus) => state?.terminated?.exitCode === 0;

const isStartedSidecar = ({ started }: ContainerStatus, isSidecar: boolean) => isSidecar && started === true;

/** Returns the reason why a container does not run, if its status has one. */
function stoppedReason(status: ContainerStatus): string | undefined {
  const { waiting, terminated } = status.state ?? {};
  if (waiting?.reason) return waiting.reason;
  return terminated && exitReason(terminated);
}

function containersReason(pod: Pod, phaseReason: string): string {
  const statuses = pod.status?.containerStatuses ?? [];
  const reason = statuses.map(stoppedReason).find((text) => text !== undefined) ?? phaseReason;
  if (reason !== 'Completed' || !statuses.some(isReadyAndRunning)) return reason;
  return podReady(pod) ? 'Running' : 'NotReady';
}

const isReadyAndRunning = (status: ContainerStatus) =>
  stoppedReason(status) === undefined && status.ready && status.state?.running !== undefined;

function phaseReason(pod: Pod): string {
  if (podCondition(pod, 'PodScheduled')?.reason === 'SchedulingGated') return 'SchedulingGated';
  return pod.status?.reason || pod.status?.phase || 'Unknown';
}

function deletionReason(pod: Pod): string | undefined {
  if (pod.metadata.deletionTimestamp === undefined) return undefined;
  if (pod.status?.reason === 'NodeLost') return 'Unknown';
  return isPodTerminal(pod) ? undefined : 'Terminating';
}

export function summarizePod(pod: Pod): PodSummary {
  const init = initProgress(pod);
  const totalContainers = pod.spec.containers.length + initContainers(pod).sidecars.size;
  const initializing = init.reason !== undefined && podCondition(pod, 'Initialized')?.status !== 'True';
  if (initializing) {
    return {
      readyContainers: init.readySidecars,
      totalContainers,
      reason: deletionReason(pod) ?? init.reason ?? '',
      restarts: init.restarts.count,
      lastRestart: init.restarts.last,
    };
  }
  const statuses = pod.status?.containerStatuses ?? [];
  const restarts = statuses.reduce(addRestarts, init.sidecarRestarts);
  return {
    readyContainers: init.readySidecars + statuses.filter(isReadyAndRunning).length,
    totalContainers,
    reason: deletionReason(pod) ?? containersReason(pod, init.reason ?? phaseReason(pod)),
    restarts: restarts.count,
    lastRestart: restarts.last,
  };
}
