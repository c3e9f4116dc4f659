/** A pod's status from what is observed (pkg/kubelet/kubelet_pods.go, status/generate.go). */

import { ephemeralContainersOf } from '../../api/core/v1/ephemeral-containers.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import { isTerminalPhase } from '../../api/core/v1/pod-conditions.ts';
import type { Container, ContainerStatus, PodStatus } from '../../api/core/v1/types.gen.ts';
import type { Condition } from '../../apimachinery/schema.ts';
import { rfc3339 } from '../../base/time.ts';
import type { ObservedPod, PodMemory } from './actions.ts';
import { latestContainers } from './compute-pod-actions.ts';
import { computeContainerStatus, computeEphemeralStatus, initContainerStatuses } from './container-status.ts';
import { podConditions } from './pod-conditions.ts';
import { qosClass } from './resources.ts';
import { specHash } from './spec-hash.ts';

export interface PodStatusInput {
  readonly pod: Pod;
  readonly observed: ObservedPod;
  readonly memory: PodMemory;
  readonly nodeIP: string;
  readonly now: number;
}

type Phase = NonNullable<PodStatus['phase']>;

export function computePodStatus(input: PodStatusInput): PodStatus {
  const { pod, observed, memory, nodeIP, now } = input;
  const previous = pod.status;
  const ofContainer = (wanted: Container) => ({
    pod,
    wanted,
    memory,
    now,
    containers: observed.containers
      .filter(({ name }) => name === wanted.name)
      .toSorted((a, b) => b.attempt - a.attempt),
  });
  const containerStatuses = pod.spec.containers.map((wanted) => computeContainerStatus(ofContainer(wanted)));
  const added = ephemeralContainersOf(pod.spec).map((wanted) => computeEphemeralStatus(ofContainer(wanted)));
  const end = isTerminalPhase(previous?.phase) ? undefined : memory.end;
  // A pod fails only when all its containers have stopped: its replacement must not start earlier.
  const ended = end !== undefined && observed.containers.every(({ state }) => state !== 'running');
  const phase = ended ? 'Failed' : phaseWithChanges(input, containerStatuses);
  const podIP = addressOf(input, phase);
  const { podIP: _address, podIPs: _addresses, ...kept } = previous ?? {};
  const initStatuses = initContainerStatuses(pod);
  const conditions = podConditions({ pod, phase, containerStatuses, initStatuses, end, observed });
  return {
    ...kept,
    phase,
    ...(ended && { reason: end.reason, message: end.message }),
    ...withAddress(podIP),
    hostIP: nodeIP,
    hostIPs: [{ ip: nodeIP }],
    startTime: previous?.startTime ?? rfc3339(now),
    qosClass: previous?.qosClass ?? qosClass(pod),
    conditions: mergeConditions(previous?.conditions ?? [], conditions, now),
    ...(!isWithoutContainers(input, phase) && {
      ...(initStatuses.length > 0 && { initContainerStatuses: [...initStatuses] }),
      containerStatuses,
      ...(added.length > 0 && { ephemeralContainerStatuses: added }),
    }),
  };
}

/** A pod that ended before any container was started: it has no container statuses. */
const isWithoutContainers = ({ pod, observed }: PodStatusInput, phase: Phase) =>
  phase === 'Failed' &&
  observed.containers.length === 0 &&
  !pod.status?.containerStatuses?.some(({ containerID }) => containerID !== undefined);

const withAddress = (podIP: string | undefined) =>
  podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] };

/** What a pod that runs on has lost with its sandbox may soon be another's. */
function addressOf({ pod, observed, nodeIP }: PodStatusInput, phase: Phase): string | undefined {
  if (pod.spec.hostNetwork) return nodeIP;
  const running = observed.sandboxes.find(({ state }) => state === 'running');
  if (running) return running.ip;
  const ending = pod.metadata.deletionTimestamp !== undefined || isTerminalPhase(phase);
  return ending ? pod.status?.podIP : undefined;
}

/** A container that ended for a change of its definition starts again whatever the restart policy says. */
function phaseWithChanges({ pod, observed }: PodStatusInput, statuses: readonly ContainerStatus[]): Phase {
  const phase = phaseOf(pod, statuses);
  if (phase === pod.status?.phase || !isTerminalPhase(phase)) return phase;
  if (pod.metadata.deletionTimestamp !== undefined) return phase;
  const newest = latestContainers(observed);
  const changed = pod.spec.containers.some((wanted) => {
    const container = newest.get(wanted.name);
    return container?.state === 'exited' && container.specHash !== specHash(wanted);
  });
  return changed ? 'Running' : phase;
}

/** pkg/kubelet getPhase; an end, once reported, is never taken back. */
function phaseOf(pod: Pod, statuses: readonly ContainerStatus[]): Phase {
  const reported = pod.status?.phase;
  if (isTerminalPhase(reported)) return reported;
  if (statuses.some(({ state, lastState }) => state?.waiting && !lastState?.terminated)) return 'Pending';
  if (statuses.some(({ state }) => state?.running)) return 'Running';
  // All have stopped, though some may wait for their restart.
  if (pod.spec.restartPolicy === 'Always') return 'Running';
  if (statuses.every(({ state }) => state?.terminated?.exitCode === 0)) return 'Succeeded';
  return pod.spec.restartPolicy === 'Never' ? 'Failed' : 'Running';
}

/** Keeps the conditions of others, first as upstream has them, and the time of those that did not change. */
function mergeConditions(
  previous: readonly Condition[],
  own: readonly Condition[],
  now: number,
): PodStatus['conditions'] {
  const others = previous.filter(({ type }) => !own.some((condition) => condition.type === type));
  const timed = own.map((condition) => {
    const before = previous.find(({ type }) => type === condition.type);
    const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
    return { ...condition, lastTransitionTime: since ?? rfc3339(now) };
  });
  return [...others, ...timed];
}
