/** Computes a pod's status from the observed containers (pkg/kubelet/kubelet_pods.go, status/generate.go). */

import { ephemeralContainersOf } from '../../../api/core/v1/container/ephemeral-containers.ts';
import { initContainersOf } from '../../../api/core/v1/container/init-containers.ts';
import { isTerminalPhase } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { qosClassOf } from '../../../api/core/v1/pod/qos.ts';
import type { Container, ContainerStatus, PodStatus } from '../../../api/core/v1/types.gen.ts';
import { timedCondition } from '../../../apimachinery/conditions.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import type { Condition } from '../../../apimachinery/schema.ts';
import { rfc3339 } from '../../../base/time.ts';
import { specHash } from '../../containers/plan/spec-hash.ts';
import type { ObservedPod } from '../../runtime/observed-pod.ts';
import { nodeAddresses, podAddresses, type SecondAddresses } from '../../runtime/pod-network.ts';
import type { PodEnd, PodMemory } from './actions.ts';
import { isDone, latestContainers } from './compute-pod-actions.ts';
import {
  type ContainerInput,
  computeContainerStatus,
  computeEphemeralStatus,
  computeInitStatus,
} from './container-status.ts';
import { finalPhase, finalStatuses } from './final-status.ts';
import { podConditions } from './pod-conditions.ts';
import { type ContainerStatuses, type Phase, phaseOf } from './pod-phase.ts';
import { endedForProbe } from './probe-restart.ts';
import { stoppedToResize } from './resize-container.ts';
import { resizeConditions, resizeState, withResources } from './resize-status.ts';

export interface PodStatusInput {
  readonly pod: Pod;
  readonly observed: ObservedPod;
  readonly memory: PodMemory;
  readonly nodeIP: string;
  /** Absent where nodes and pods have no addresses of IPv6. */
  readonly second?: SecondAddresses | undefined;
  readonly canMountRecursiveReadOnly?: boolean | undefined;
  readonly now: number;
}

export function computePodStatus(input: PodStatusInput): PodStatus {
  const { pod, observed, memory, nodeIP, now } = input;
  const previous = pod.status;
  const inputOf = containerInputs(input);
  const found = statusesFound(pod, inputOf);
  const end = isTerminalPhase(previous?.phase) ? undefined : memory.end;
  const nothingRuns = observed.containers.every(({ state }) => state !== 'running');
  // A pod fails only when all its containers have stopped: its replacement must not start earlier.
  const endNow = nothingRuns ? end : undefined;
  const isOver = isTerminating(pod) && nothingRuns;
  const phase = endNow ? 'Failed' : phaseNow(input, found, isOver);
  const { containerStatuses, initStatuses } = isOver ? finalStatuses(pod.spec, found) : found;
  const podIPs = addressesOf(input, phase);
  const { podIP: _address, podIPs: _addresses, resize: _resize, ...others } = previous ?? {};
  const { reason: _reason, message: _message, ...kept } = others;
  const { resize, conditions: resizing } = isTerminalPhase(phase)
    ? noResize
    : resizeState(pod, observed.containers, memory);
  const reported = (statuses: readonly ContainerStatus[]) =>
    withResources(statuses, pod, observed.containers);
  const conditions = [
    ...podConditions({ pod, phase, containerStatuses, initStatuses, end, observed, memory }),
    ...resizing,
  ];
  return {
    ...kept,
    ...seen(pod),
    phase,
    ...whyInPhase(phase, previous, endNow),
    ...withAddresses(podIPs),
    ...(resize && { resize }),
    hostIP: nodeIP,
    hostIPs: nodeAddresses(nodeIP, input.second).map((ip) => ({ ip })),
    ...fixedFields(pod, now),
    conditions: mergeConditions(
      previous?.conditions ?? [],
      conditions.map((condition) => ({ ...condition, ...seen(pod) })),
      now,
    ),
    ...(!isWithoutContainers(input, phase) && {
      ...listed(reported(initStatuses)),
      containerStatuses: byName(reported(containerStatuses)),
      ...ephemeralStatuses(input, inputOf),
    }),
  };
}

/** Returns the fields that keep their first value. */
const fixedFields = ({ spec, status }: Pod, now: number) => ({
  startTime: status?.startTime ?? rfc3339(now),
  qosClass: status?.qosClass ?? qosClassOf(spec),
});

const phaseNow = (input: PodStatusInput, found: ContainerStatuses, isOver: boolean) =>
  isOver ? finalPhase(input.pod, found) : phaseWithChanges(input, found);

const noResize = { resize: undefined, conditions: [] } as const;

const listed = (statuses: ContainerStatus[]) =>
  statuses.length > 0 ? { initContainerStatuses: statuses } : {};

type InputOf = (wanted: Container) => ContainerInput;

/** Returns the statuses of the existing containers and init containers. */
const statusesFound = ({ spec }: Pod, inputOf: InputOf): ContainerStatuses => ({
  containerStatuses: spec.containers.map((wanted) => computeContainerStatus(inputOf(wanted))),
  initStatuses: initContainersOf(spec).map((wanted) => computeInitStatus(inputOf(wanted))),
});

function ephemeralStatuses({ pod, observed }: PodStatusInput, inputOf: InputOf): Partial<PodStatus> {
  const added = ephemeralContainersOf(pod.spec).map((wanted) => computeEphemeralStatus(inputOf(wanted)));
  if (added.length === 0) return {};
  return { ephemeralContainerStatuses: byName(withResources(added, pod, observed.containers)) };
}

/** Returns the input from which the status of each container is computed. */
function containerInputs(input: PodStatusInput): InputOf {
  const { pod, memory, observed, now, canMountRecursiveReadOnly } = input;
  const isLeaving =
    pod.metadata.deletionTimestamp !== undefined ||
    memory.end !== undefined ||
    isDone({ pod, observed, memory });
  return (wanted) => ({
    pod,
    wanted,
    memory,
    isLeaving,
    canMountRecursiveReadOnly,
    now,
    containers: observed.containers
      .filter(({ name }) => name === wanted.name)
      .toSorted((a, b) => b.attempt - a.attempt),
  });
}

/** Returns the reason and message, which are kept as long as the phase does not change. */
function whyInPhase(
  phase: Phase,
  previous: PodStatus | undefined,
  end: PodEnd | undefined,
): Pick<PodStatus, 'reason' | 'message'> {
  if (end) return { reason: end.reason, message: end.message };
  const { reason, message } = phase === previous?.phase ? previous : {};
  return { ...(reason && { reason }), ...(message && { message }) };
}

/** Sorts the pod's own containers by name, as upstream; init containers stay in their order. */
const byName = (statuses: readonly ContainerStatus[]) =>
  statuses.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));

/** Returns the generation that the status reflects; a static pod has none. */
const seen = ({ metadata: { generation } }: Pod) =>
  generation === undefined ? {} : { observedGeneration: generation };

/**
 * Returns true for a pod that the node ended before any container was started: it has no container statuses.
 */
const isWithoutContainers = ({ pod: { metadata, status }, observed }: PodStatusInput, phase: Phase) =>
  phase === 'Failed' &&
  (metadata.deletionTimestamp === undefined || isTerminalPhase(status?.phase)) &&
  observed.containers.length === 0 &&
  !status?.containerStatuses?.some(({ containerID }) => containerID !== undefined);

const withAddresses = (podIPs: readonly string[]) =>
  podIPs[0] === undefined ? {} : { podIP: podIPs[0], podIPs: podIPs.map((ip) => ({ ip })) };

/**
 * Returns the pod's addresses. A pod that continues without its sandbox has none: the lost addresses may soon
 * be assigned to another pod.
 */
function addressesOf(input: PodStatusInput, phase: Phase): readonly string[] {
  const { pod, observed, nodeIP, second } = input;
  if (pod.spec.hostNetwork) return nodeAddresses(nodeIP, second);
  const running = observed.sandboxes.find(({ state }) => state === 'running');
  if (running) return running.ip === undefined ? [] : podAddresses(running.ip, second);
  const ending = pod.metadata.deletionTimestamp !== undefined || isTerminalPhase(phase);
  const { podIP, podIPs } = pod.status ?? {};
  if (!ending || podIP === undefined) return [];
  return podIPs?.length ? podIPs.map(({ ip }) => ip) : [podIP];
}

/**
 * Returns the phase. A container that ended because of a changed definition or a probe starts again with
 * any exit status.
 */
function phaseWithChanges({ pod, observed, memory }: PodStatusInput, statuses: ContainerStatuses): Phase {
  const phase = phaseOf(pod, statuses);
  if (phase === pod.status?.phase || !isTerminalPhase(phase)) return phase;
  if (pod.metadata.deletionTimestamp !== undefined) return phase;
  const newest = latestContainers(observed);
  const again = pod.spec.containers.some((wanted) => {
    const container = newest.get(wanted.name);
    if (container?.state !== 'exited') return false;
    return (
      container.specHash !== specHash(wanted) ||
      endedForProbe(pod, container, memory) ||
      stoppedToResize(wanted, container, memory)
    );
  });
  return again ? 'Running' : phase;
}

/**
 * Merges the conditions: those of other components are kept, first as in upstream, and unchanged ones keep
 * their times.
 */
function mergeConditions(
  previous: readonly Condition[],
  own: readonly Condition[],
  now: number,
): PodStatus['conditions'] {
  const passing: readonly string[] = resizeConditions;
  const others = previous.filter(
    ({ type }) => !passing.includes(type) && !own.some((condition) => condition.type === type),
  );
  const time = rfc3339(now);
  const timed = own.map((condition) => timedCondition(previous, condition, time));
  return [...others, ...timed];
}
