/** Computes one container's status from its newest containers, its failures and its earlier status. */

import { initContainersOf, isSidecar } from '../../../api/core/v1/container/init-containers.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type {
  Container,
  ContainerStatus,
  ContainerState as ReportedState,
} from '../../../api/core/v1/types.gen.ts';
import { goDuration, rfc3339 } from '../../../base/time.ts';
import { specHash } from '../../containers/plan/spec-hash.ts';
import { isReady } from '../../probes/plan/probe-results.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory, StartFailure } from './actions.ts';
import { endOf, userOf, volumeMounts } from './container-details.ts';
import { isStarted } from './container-started.ts';
import { holdOf, holdOfEphemeral } from './held-pod.ts';
import { pendingStart } from './hooks.ts';
import { endedForProbe } from './probe-restart.ts';
import { crashesOf, restartAt, restartDelayMs, startFailureOf } from './restart-backoff.ts';
import { isFailure, restartsAfter } from './restart-policy.ts';

export interface ContainerInput {
  readonly pod: Pod;
  readonly wanted: Container;
  /** All containers of this name, newest first. */
  readonly containers: readonly ContainerState[];
  readonly memory: PodMemory;
  /** True when no container of the pod starts again, because it ends or has ended. */
  readonly isLeaving: boolean;
  /** True when mounts below a read-only volume can be made read-only too; default false. */
  readonly canMountRecursiveReadOnly?: boolean | undefined;
  readonly now: number;
}

export function computeContainerStatus(input: ContainerInput): ContainerStatus {
  const { pod, wanted } = input;
  const previous = pod.status?.containerStatuses?.find(({ name }) => name === wanted.name);
  return statusAfter(previous, input);
}

/**
 * Computes the status of an init container: it is ready when it has ended successfully. A sidecar is treated
 * like the pod's own containers.
 */
export function computeInitStatus(input: ContainerInput): ContainerStatus {
  const { pod, wanted } = input;
  const previous = pod.status?.initContainerStatuses?.find(({ name }) => name === wanted.name);
  const found = statusAfter(previous, input);
  if (isSidecar(wanted)) return found;
  const ended = found.state?.terminated;
  return {
    ...found,
    ready: ended?.exitCode === 0 && ended.reason !== outOfMemory,
    started: found.state?.running !== undefined,
  };
}

/** Computes the status of an ephemeral container: it runs once and is never ready. */
export function computeEphemeralStatus(input: ContainerInput): ContainerStatus {
  const { pod, wanted } = input;
  const previous = pod.status?.ephemeralContainerStatuses?.find(({ name }) => name === wanted.name);
  const { started: _, ...found } = statusAfter(previous, input);
  if (input.containers.length === 0 && previous?.containerID !== undefined && found.state?.waiting) {
    const { restartCount, lastState = {} } = previous;
    return { ...found, ready: false, restartCount, lastState, state: { terminated: unknownEnd(previous) } };
  }
  const hold = holdOfEphemeral(pod, wanted);
  return { ...found, ready: false, ...(hold && found.state?.waiting && { state: { waiting: hold } }) };
}

function statusAfter(previous: ContainerStatus | undefined, input: ContainerInput): ContainerStatus {
  const { wanted, containers, memory } = input;
  const current = containers[0];
  const state = stateOf(input, current, previous);
  const results = current && memory.probes.get(current.id);
  const started = current !== undefined && state.running !== undefined && isStarted(current, wanted, memory);
  return {
    name: wanted.name,
    image: current?.image ?? wanted.image,
    imageID: current ? `docker://${current.imageId}` : (previous?.imageID ?? ''),
    ...idOf(current, previous),
    ...(wanted.lifecycle?.stopSignal && { stopSignal: wanted.lifecycle.stopSignal }),
    ready: started && isReady(wanted, results),
    started,
    restartCount: Math.max(current?.attempt ?? 0, previous?.restartCount ?? 0),
    state,
    lastState: lastStateOf(input, state, previous),
    ...volumeMounts(wanted, input.canMountRecursiveReadOnly),
    ...(current ? userOf(current, previous) : { ...endOf(previous), ...vanished(previous, input) }),
  };
}

/**
 * Returns the status of a container that was reported as running and no longer exists. Its earlier run keeps
 * the pod from being Pending.
 */
function vanished(
  previous: ContainerStatus | undefined,
  { pod }: ContainerInput,
): Pick<ContainerStatus, 'lastState' | 'restartCount'> | undefined {
  if (!previous?.state?.running) return undefined;
  const { lastState, restartCount } = previous;
  const message =
    'The container could not be located when the pod was deleted.  The container used to be Running';
  return {
    lastState: lastState?.terminated ? lastState : { terminated: { ...unknownEnd(previous), message } },
    // The container starts again when its pod continues.
    restartCount: pod.metadata.deletionTimestamp === undefined ? restartCount + 1 : restartCount,
  };
}

function idOf(current: ContainerState | undefined, previous: ContainerStatus | undefined) {
  const containerID = current ? `docker://${current.id}` : previous?.containerID;
  return containerID === undefined ? {} : { containerID };
}

/** Returns the state of a container that is gone, if its end is known or can be concluded. */
function stateBefore(previous: ContainerStatus | undefined, leaving: boolean): ReportedState | undefined {
  if (previous?.state?.terminated) return previous.state;
  return leaving && previous?.state?.running ? { terminated: unknownEnd(previous) } : undefined;
}

/** Returns the last termination of the container before `state`. */
function lastStateOf(
  input: ContainerInput,
  state: ReportedState,
  previous: ContainerStatus | undefined,
): ReportedState {
  const { containers } = input;
  const shown = state.terminated ? containers[1] : containers.find((one) => one.state === 'exited');
  return shown ? { terminated: terminated(shown, input) } : (previous?.lastState ?? {});
}

function stateOf(
  input: ContainerInput,
  current: ContainerState | undefined,
  previous: ContainerStatus | undefined,
): ReportedState {
  const { pod, wanted, memory, now, isLeaving: leaving } = input;
  if (current?.state === 'running') return whileRunning(input, current);
  const known = current ? undefined : stateBefore(previous, leaving);
  if (known) return known;
  const failure = startFailureOf(memory, wanted);
  if (failure && !leaving) return { waiting: waitingAfter(failure, wanted, now) };
  if (current?.state !== 'exited') return { waiting: leaving ? beforeStart(pod) : whyNotStarted(input) };
  const waiting = leaving ? undefined : whyWaits(input, current);
  return waiting ? { waiting } : { terminated: terminated(current, input) };
}

/** Returns why a container that has ended waits for its next start; undefined if its end is reported. */
function whyWaits(input: ContainerInput, current: ContainerState): ReportedState['waiting'] {
  const { pod, wanted, memory, now } = input;
  const isOver = isInit(input) && !isSidecar(wanted) && !isFailure(current);
  if (current.specHash !== specHash(wanted) && !isOver) return whyNotStarted(input);
  const again = restartsAfter(pod.spec, current) || endedForProbe(pod, current, memory);
  // A successful end of an init container stays visible, also for a sidecar that starts again.
  const isGood = isInit(input) && current.exitCode === 0;
  if (!again || isGood || restartAt(current) <= now) return undefined;
  const backoff = goDuration(restartDelayMs(crashesOf(current)));
  const { name, namespace, uid } = pod.metadata;
  return {
    reason: 'CrashLoopBackOff',
    message: `back-off ${backoff} restarting failed container=${wanted.name} pod=${name}_${namespace}(${uid})`,
  };
}

/**
 * Returns the state of a running container: it is not reported as running before its postStart hook has
 * completed.
 */
function whileRunning({ pod, wanted, memory, now }: ContainerInput, current: ContainerState): ReportedState {
  const pending = pendingStart(current, wanted, memory);
  if (!pending) return { running: { startedAt: rfc3339(current.startedAt ?? now) } };
  if (pending.at !== 'failed') return { waiting: beforeStart(pod) };
  return { waiting: { reason: 'PostStartHookError', message: pending.message } };
}

const beforeStart = (pod: Pod) => ({
  reason: initContainersOf(pod.spec).length > 0 ? 'PodInitializing' : 'ContainerCreating',
});

const isInit = ({ pod, wanted }: ContainerInput) => initContainersOf(pod.spec).includes(wanted);

/**
 * Returns why a container has not started. In a held pod the first container reports the hold; the other
 * containers report that they wait for the first.
 */
function whyNotStarted({ pod, wanted, memory }: ContainerInput): NonNullable<ReportedState['waiting']> {
  const [first] = initContainersOf(pod.spec);
  return first !== undefined && first !== wanted
    ? beforeStart(pod)
    : (holdOf(pod, memory) ?? beforeStart(pod));
}

/**
 * Returns the failure's own reason after the first failed pull; after later ones, the reason of the back-off
 * until the next attempt is due.
 */
function waitingAfter(failure: StartFailure, { image: own }: Container, now: number) {
  const { image = own } = failure;
  if (failure.reason === 'ErrImagePull' && failure.count > 1 && now < failure.retryAt) {
    return {
      reason: 'ImagePullBackOff',
      message: `Back-off pulling image ${JSON.stringify(image)}: ErrImagePull: ${failure.message}`,
    };
  }
  return { reason: failure.reason, message: failure.message };
}

function terminated(
  container: ContainerState,
  { pod, memory }: ContainerInput,
): NonNullable<ReportedState['terminated']> {
  const { exitCode, startedAt, finishedAt, createdAt } = container;
  const message = container.error || (memory.terminationMessages.get(container.id) ?? '');
  return {
    exitCode,
    reason: reasonOf(container, message),
    ...(message && { message: shareOf(pod, message) }),
    startedAt: rfc3339(startedAt ?? createdAt),
    finishedAt: rfc3339(finishedAt ?? createdAt),
    containerID: `docker://${container.id}`,
  };
}

/** Maximum bytes of the messages of all containers of a pod together. */
const maxMessageBytes = 12_288;

function shareOf({ spec }: Pod, message: string): string {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec;
  const share = Math.floor(
    maxMessageBytes / (containers.length + initContainers.length + ephemeralContainers.length),
  );
  if (message.length * 3 <= share) return message;
  const bytes = new TextEncoder().encode(message);
  return bytes.length <= share ? message : new TextDecoder().decode(bytes.subarray(0, share));
}

const outOfMemory = 'OOMKilled';

function reasonOf(container: ContainerState, message: string): string {
  const { oomKilled, error, startedAt, exitCode } = container;
  if (oomKilled) return outOfMemory;
  if (error !== '' && startedAt === undefined) return 'ContainerCannotRun';
  // The container's first program (pause.c) reports this itself.
  if ((exitCode === 126 || exitCode === 127) && message.startsWith('exec: "')) return 'ContainerCannotRun';
  return exitCode === 0 ? 'Completed' : 'Error';
}

/** Returns the end of a container that was not observed, as upstream reports it. */
export function unknownEnd({
  containerID,
}: Pick<ContainerStatus, 'containerID'>): NonNullable<ReportedState['terminated']> {
  return {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    ...(containerID !== undefined && { containerID }),
  };
}
