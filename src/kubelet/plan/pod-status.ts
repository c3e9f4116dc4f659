/** A pod's status from what is observed (pkg/kubelet/kubelet_pods.go, status/generate.go). */

import type { Pod } from '../../api/core/v1/pod.ts';
import type { ContainerStatus, PodStatus } from '../../api/core/v1/pod-status.ts';
import type { Condition } from '../../apimachinery/schema.ts';
import { rfc3339 } from '../../base/time.ts';
import type { ObservedPod, PodEnd, PodMemory } from './actions.ts';
import { computeContainerStatus } from './container-status.ts';
import { qosClass } from './resources.ts';

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
  const containerStatuses = pod.spec.containers.map((wanted) =>
    computeContainerStatus({
      pod,
      wanted,
      memory,
      now,
      containers: observed.containers
        .filter(({ name }) => name === wanted.name)
        .toSorted((a, b) => b.attempt - a.attempt),
    }),
  );
  const end = isTerminalPhase(previous?.phase) ? undefined : memory.end;
  // As long as something of it runs it has not failed yet: whoever replaces it must not be early.
  const ended = end !== undefined && observed.containers.every(({ state }) => state !== 'running');
  const phase = ended ? 'Failed' : phaseOf(pod, containerStatuses);
  const podIP = addressOf(input, phase);
  const conditions = conditionsOf(phase, containerStatuses, end);
  return {
    ...previous,
    phase,
    ...(ended && { reason: end.reason, message: end.message }),
    ...withAddress(podIP),
    hostIP: nodeIP,
    startTime: previous?.startTime ?? rfc3339(now),
    qosClass: previous?.qosClass ?? qosClass(pod),
    conditions: mergeConditions(previous?.conditions ?? [], conditions, now),
    ...(!isWithoutContainers(input, phase) && { containerStatuses }),
  };
}

export const isTerminalPhase = (phase: Phase | undefined) => phase === 'Succeeded' || phase === 'Failed';

/** Ended before anything of it was started: there is nothing to say of its containers, and nothing they wait for. */
const isWithoutContainers = ({ pod, observed }: PodStatusInput, phase: Phase) =>
  phase === 'Failed' &&
  observed.containers.length === 0 &&
  !pod.status?.containerStatuses?.some(({ containerID }) => containerID !== undefined);

/** Nothing of it is worth a write: ignores what differs only in the order of keys. */
export function isReady(status: PodStatus | undefined): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}

const withAddress = (podIP: string | undefined) =>
  podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] };

function addressOf({ pod, observed, nodeIP }: PodStatusInput, phase: Phase): string | undefined {
  if (pod.spec.hostNetwork) return nodeIP;
  const running = observed.sandboxes.find(({ state }) => state === 'running');
  if (running) return running.ip;
  const ending = pod.metadata.deletionTimestamp !== undefined || isTerminalPhase(phase);
  return ending ? pod.status?.podIP : undefined;
}

/** pkg/kubelet getPhase; an end, once reported, is never taken back. */
export function phaseOf(pod: Pod, statuses: readonly ContainerStatus[]): Phase {
  const reported = pod.status?.phase;
  if (reported !== undefined && isTerminalPhase(reported)) return reported;
  const stopped = statuses.filter(({ state, lastState }) =>
    state?.waiting ? lastState?.terminated : state?.terminated,
  );
  const waiting = statuses.filter(({ state, lastState }) => state?.waiting && !lastState?.terminated);
  if (waiting.length > 0) return 'Pending';
  if (statuses.some(({ state }) => state?.running)) return 'Running';
  if (stopped.length === 0) return 'Pending';
  if (pod.spec.restartPolicy === 'Always') return 'Running';
  if (stopped.every(({ state }) => state?.terminated?.exitCode === 0)) return 'Succeeded';
  return pod.spec.restartPolicy === 'Never' ? 'Failed' : 'Running';
}

function conditionsOf(
  phase: Phase,
  statuses: readonly ContainerStatus[],
  end: PodEnd | undefined,
): readonly Condition[] {
  const unready = statuses.filter(({ ready }) => !ready).map(({ name }) => name);
  const disruption = { status: 'True', reason: 'TerminationByKubelet', message: end?.message } as const;
  const leaving = end && phase !== 'Failed';
  const ready = leaving ? { ...disruption, status: 'False' as const } : readiness(phase, unready);
  const done = phase === 'Succeeded' ? { reason: 'PodCompleted' } : {};
  return [
    { type: 'Initialized', status: 'True', ...done },
    { type: 'Ready', ...ready },
    { type: 'ContainersReady', ...ready },
    { type: 'PodScheduled', status: 'True' },
    ...(end?.disruption ? [{ type: 'DisruptionTarget', ...disruption }] : []),
  ];
}

function readiness(phase: Phase, unready: readonly string[]): Omit<Condition, 'type'> {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  if (unready.length === 0) return { status: 'True' };
  const message = `containers with unready status: [${unready.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}

/** Keeps the conditions of others and the time of those that did not change. */
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
  return [...timed, ...others];
}
