/** One container's status from its newest containers, its failures and what was reported before. */

import { initContainersOf } from '../../api/core/v1/init-containers.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import type {
  Container,
  ContainerStatus,
  ContainerState as ReportedState,
} from '../../api/core/v1/types.gen.ts';
import { goDuration, rfc3339 } from '../../base/time.ts';
import type { ContainerState } from '../runtime/runtime.ts';
import type { Failure, PodMemory } from './actions.ts';
import { restartsAfterExit } from './compute-pod-actions.ts';
import { holdOf, holdOfEphemeral } from './held-pod.ts';
import { crashesOf, restartAt, restartDelayMs } from './restart-backoff.ts';
import { specHash } from './spec-hash.ts';

export interface ContainerInput {
  readonly pod: Pod;
  readonly wanted: Container;
  /** All of this name, newest first. */
  readonly containers: readonly ContainerState[];
  readonly memory: PodMemory;
  readonly now: number;
}

export function computeContainerStatus(input: ContainerInput): ContainerStatus {
  const { pod, wanted } = input;
  const previous = pod.status?.containerStatuses?.find(({ name }) => name === wanted.name);
  return statusAfter(previous, input);
}

/** Of a container that was added to look into the pod: it runs once, and nobody waits for it to be ready. */
export function computeEphemeralStatus(input: ContainerInput): ContainerStatus {
  const { pod, wanted } = input;
  const { metadata, spec, status } = pod;
  const once = {
    metadata,
    spec: { ...spec, restartPolicy: 'Never' as const },
    ...(status && { status }),
  } as Pod;
  const previous = status?.ephemeralContainerStatuses?.find(({ name }) => name === wanted.name);
  const { started: _, ...found } = statusAfter(previous, { ...input, pod: once });
  if (input.containers.length === 0 && previous?.containerID !== undefined && found.state?.waiting) {
    return { ...found, ready: false, state: { terminated: unknownEnd(previous) } };
  }
  const hold = holdOfEphemeral(pod, wanted);
  return { ...found, ready: false, ...(hold && found.state?.waiting && { state: { waiting: hold } }) };
}

function statusAfter(previous: ContainerStatus | undefined, input: ContainerInput): ContainerStatus {
  const { wanted, containers } = input;
  const current = containers[0];
  const state = stateOf(input, current, previous);
  const shown = state.terminated ? containers[1] : containers.find((c) => c.state === 'exited');
  const running = state.running !== undefined;
  const last = shown && terminated(shown, input.memory);
  return {
    name: wanted.name,
    image: current?.image ?? wanted.image,
    imageID: current ? `docker://${current.imageId}` : (previous?.imageID ?? ''),
    ...idOf(current, previous),
    ready: running,
    started: running,
    restartCount: Math.max(current?.attempt ?? 0, previous?.restartCount ?? 0),
    state,
    lastState: last ? { terminated: last } : (previous?.lastState ?? {}),
  };
}

function idOf(current: ContainerState | undefined, previous: ContainerStatus | undefined) {
  const containerID = current ? `docker://${current.id}` : previous?.containerID;
  return containerID === undefined ? {} : { containerID };
}

function stateOf(
  input: ContainerInput,
  current: ContainerState | undefined,
  previous: ContainerStatus | undefined,
): ReportedState {
  const { pod, wanted, memory, now } = input;
  const leaving = pod.metadata.deletionTimestamp !== undefined || memory.end !== undefined;
  if (current?.state === 'running') return { running: { startedAt: rfc3339(current.startedAt ?? now) } };
  if (!current && previous?.state?.terminated) return previous.state;
  if (!current && leaving && previous?.state?.running) return { terminated: unknownEnd(previous) };
  const failure = memory.startFailures.get(wanted.name);
  if (failure && !leaving) return { waiting: waitingAfter(failure, wanted, now) };
  if (current?.state !== 'exited') return { waiting: leaving ? beforeStart(pod) : whyNotStarted(pod) };
  if (current.specHash !== specHash(wanted) && !leaving) return { waiting: whyNotStarted(pod) };
  const restarts = restartsAfterExit(pod.spec.restartPolicy, current.exitCode) && !leaving;
  if (restarts && restartAt(current) > now) {
    const backoff = goDuration(restartDelayMs(crashesOf(current)));
    const message = `back-off ${backoff} restarting failed container=${wanted.name} pod=${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
    return { waiting: { reason: 'CrashLoopBackOff', message } };
  }
  return { terminated: terminated(current, memory) };
}

const beforeStart = (pod: Pod) => ({
  reason: initContainersOf(pod.spec).length > 0 ? 'PodInitializing' : 'ContainerCreating',
});

/** A container behind init containers waits for those, whatever they wait for. */
function whyNotStarted(pod: Pod): NonNullable<ReportedState['waiting']> {
  return initContainersOf(pod.spec).length > 0 ? beforeStart(pod) : (holdOf(pod) ?? beforeStart(pod));
}

/** Of the containers that are to run before the others: none is started yet, and the first says why. */
export function initContainerStatuses(pod: Pod): readonly ContainerStatus[] {
  return initContainersOf(pod.spec).map(({ name, image }, index) => ({
    name,
    image,
    imageID: '',
    ready: false,
    started: false,
    restartCount: 0,
    state: { waiting: (index === 0 && holdOf(pod)) || { reason: 'PodInitializing' } },
    lastState: {},
  }));
}

/** After the first failed pull the reason is the failure's own, then the back-off's until it fails again. */
function waitingAfter(failure: Failure, { image }: Container, now: number) {
  if (failure.reason === 'ErrImagePull' && failure.count > 1 && now < failure.retryAt) {
    return {
      reason: 'ImagePullBackOff',
      message: `Back-off pulling image ${JSON.stringify(image)}: ${failure.message}`,
    };
  }
  return { reason: failure.reason, message: failure.message };
}

function terminated(container: ContainerState, memory: PodMemory): NonNullable<ReportedState['terminated']> {
  const { exitCode, startedAt, finishedAt, createdAt } = container;
  const message = container.error || (memory.terminationMessages.get(container.id) ?? '');
  return {
    exitCode,
    reason: reasonOf(container, message),
    ...(message && { message }),
    startedAt: rfc3339(startedAt ?? createdAt),
    finishedAt: rfc3339(finishedAt ?? createdAt),
    containerID: `docker://${container.id}`,
  };
}

function reasonOf(container: ContainerState, message: string): string {
  const { oomKilled, error, startedAt, exitCode } = container;
  if (oomKilled) return 'OOMKilled';
  if (error !== '' && startedAt === undefined) return 'ContainerCannotRun';
  // The first program of a container (pause.c) says so itself.
  if ((exitCode === 126 || exitCode === 127) && message.startsWith('exec: "')) return 'ContainerCannotRun';
  return exitCode === 0 ? 'Completed' : 'Error';
}

/** As upstream reports a container that vanished while its pod was being deleted. */
function unknownEnd(previous: ContainerStatus): NonNullable<ReportedState['terminated']> {
  return {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was deleted. The container used to be Running',
    ...(previous.containerID !== undefined && { containerID: previous.containerID }),
  };
}
