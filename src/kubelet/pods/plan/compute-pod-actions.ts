/**
 * The central decision of the node agent: (pod, observed containers, memory, now) → the next actions.
 * Level-triggered: the plan depends on nothing but its arguments, a plan can be executed in part, and the
 * plan is empty once everything is as it should be. The rules are those of pkg/kubelet/kuberuntime
 * computePodActions.
 */

import { ephemeralContainersOf, findContainer } from '../../../api/core/v1/container/ephemeral-containers.ts';
import {
  initContainersOf,
  isSidecar,
  servingContainers,
} from '../../../api/core/v1/container/init-containers.ts';
import { isPodTerminal } from '../../../api/core/v1/pod/conditions.ts';
import { graceSecondsOf } from '../../../api/core/v1/pod/grace.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Container, EphemeralContainer } from '../../../api/core/v1/types.gen.ts';
import { specHash } from '../../containers/plan/spec-hash.ts';
import type { ObservedPod } from '../../runtime/observed-pod.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import { planVolumes } from '../../volumes/plan/volume-state.ts';
import { evictedReason, type PodMemory, type PodPlan } from './actions.ts';
import { Draft } from './draft.ts';
import { holdOf, holdOfEphemeral } from './held-pod.ts';
import { dueStartHook, pendingStart } from './hooks.ts';
import { initProgress } from './init-progress.ts';
import { endedForProbe, probeStop } from './probe-restart.ts';
import { planResize } from './resize-actions.ts';
import { stoppedToResize } from './resize-container.ts';
import { crashesOf, restartAt, startFailureOf } from './restart-backoff.ts';
import { isFailure, restartsAfter } from './restart-policy.ts';
import { planStop, planStops } from './stop-containers.ts';

export interface PodInput {
  readonly pod: Pod;
  readonly observed: ObservedPod;
  readonly memory: PodMemory;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function computePodActions(input: PodInput): PodPlan {
  const { pod, memory } = input;
  if (pod.metadata.deletionTimestamp !== undefined) return planDeletion(input);
  const plan = new Draft();
  if (isPodTerminal(pod) || memory.end || isDone(input)) planRest(input, plan);
  else planRun(input, plan);
  return plan.finish();
}

/** Returns the plan for the containers of a pod that the API server does not have. */
export function computeOrphanActions(
  observed: ObservedPod,
  memory: PodMemory,
  now: number,
  /** Overrides the grace period in the containers' labels. */
  gracePeriodSeconds?: number,
): PodPlan {
  const plan = new Draft();
  const running = observed.containers.filter((container) => container.state === 'running');
  const graceOf = (container: ContainerState) => gracePeriodSeconds ?? container.gracePeriodSeconds;
  planStops(running, graceOf, 'the pod is gone', { memory, now }, plan);
  if (running.length === 0 && !memory.reportedGone) removeEverything(observed, plan);
  return plan.finish();
}

/** Returns the newest container of each name, by attempt. */
export function latestContainers({
  containers,
}: Pick<ObservedPod, 'containers'>): ReadonlyMap<string, ContainerState> {
  const oldestFirst = containers.toSorted((a, b) => a.attempt - b.attempt);
  return new Map(oldestFirst.map((container) => [container.name, container]));
}

/** Returns true when every container has ended for good or will never start. Sidecars end after that. */
export function isDone({ pod, observed, memory }: Omit<PodInput, 'now'>): boolean {
  const { spec } = pod;
  const latest = latestContainers(observed);
  if (initializationFailed(spec, latest)) return true;
  return spec.containers.every((wanted) => {
    const container = latest.get(wanted.name);
    return (
      container?.state === 'exited' &&
      container.specHash === specHash(wanted) &&
      !restartsAfter(spec, container) &&
      !endedForProbe(pod, container, memory) &&
      !stoppedToResize(wanted, container, memory)
    );
  });
}

function initializationFailed(spec: Pod['spec'], latest: ReadonlyMap<string, ContainerState>): boolean {
  if (spec.restartPolicy !== 'Never') return false;
  if (spec.containers.some(({ name }) => (latest.get(name)?.state ?? 'created') !== 'created')) return false;
  return initContainersOf(spec).some((wanted) => {
    const container = latest.get(wanted.name);
    return container?.state === 'exited' && !isSidecar(wanted) && isFailure(container);
  });
}

/**
 * Plans the end of a pod: its sandbox with the address, and its volumes, are removed; dead containers are
 * kept for their logs. An evicted pod keeps nothing, because the node needs the room; otherwise the node
 * would continue to evict others.
 */
function planRest(input: PodInput, plan: Draft): void {
  const { pod, observed, memory, now } = input;
  const grace = memory.end?.gracePeriodSeconds ?? graceOf(pod);
  const running = observed.containers.filter((container) => container.state === 'running');
  const why = memory.end?.message ?? 'the pod has ended';
  planStops(running, () => grace, why, { memory, now }, plan);
  if (running.length > 0) return;
  for (const { id } of observed.sandboxes) plan.add({ type: 'removeSandbox', id });
  planDeadContainers(input, plan);
  if (memory.endIsKnown && !memory.volumesRemoved) plan.add({ type: 'removeVolumes' });
}

function planDeadContainers({ pod, observed, memory }: PodInput, plan: Draft): void {
  const isEvicted = memory.endIsKnown && pod.status?.reason === evictedReason;
  if (isEvicted) for (const { id } of observed.containers) plan.add({ type: 'removeContainer', id });
  else planGarbage(observed, plan);
}

function planRun(input: PodInput, plan: Draft): void {
  const { observed, memory, now } = input;
  const sandbox = newestSandbox(observed);
  for (const { id } of observed.sandboxes.filter((other) => other !== sandbox))
    plan.add({ type: 'removeSandbox', id });
  planGarbage(observed, plan);
  const latest = latestContainers(observed);
  planStopsOfSome(input, sandbox?.id, plan);
  planStartHooks(input, sandbox?.id, plan);
  const due = dueInTurn(input, latest, sandbox?.id, plan);
  const ephemeral = sandbox ? dueEphemeral(input, latest, plan) : [];
  const starts = planMounts(input, plan) ? [...due, ...ephemeral] : [];
  if (starts.length === 0) return;
  if (memory.sandboxFailure && mustWait(memory.sandboxFailure.retryAt, now, plan)) return;
  if (sandbox) for (const wanted of starts) planStart(wanted, latest, sandbox.id, input, plan);
  else planSandbox(observed, plan);
}

/** Returns the running sandbox of the last attempt. */
function newestSandbox({ sandboxes }: ObservedPod): ObservedPod['sandboxes'][number] | undefined {
  const running = sandboxes.filter(({ state }) => state === 'running');
  return running.toSorted((a, b) => b.attempt - a.attempt)[0];
}

function planSandbox(observed: ObservedPod, plan: Draft): void {
  // Containers of a sandbox that is gone must end before new ones take their place.
  if (observed.containers.some(({ state }) => state === 'running')) return;
  const attempts = observed.sandboxes.map(({ attempt }) => attempt);
  const started = observed.containers.length > 0 ? 1 : 0;
  plan.add({ type: 'createSandbox', attempt: Math.max(-1 + started, ...attempts) + 1 });
}

/** Returns the ephemeral containers that start now. */
const dueEphemeral = (
  input: PodInput,
  latest: ReadonlyMap<string, ContainerState>,
  plan: Draft,
): readonly Container[] =>
  ephemeralContainersOf(input.pod.spec).filter((wanted) =>
    isEphemeralDue(wanted, latest.get(wanted.name), input, plan),
  );

/** Returns the containers that start now. */
function dueInTurn(
  input: PodInput,
  latest: ReadonlyMap<string, ContainerState>,
  sandboxId: string | undefined,
  plan: Draft,
): readonly Container[] {
  const due: Container[] = [];
  for (const wanted of containersInTurn(input, latest, sandboxId)) {
    const container = latest.get(wanted.name);
    const starts = isDue(wanted, container, input, plan);
    if (starts) due.push(wanted);
    // The containers after it wait for its postStart hook: upstream starts one container at a time.
    const before = container && pendingStart(container, wanted, input.memory);
    const isBusy = starts || (before !== undefined && before.at !== 'failed');
    if (wanted.lifecycle?.postStart && isBusy) break;
  }
  return due;
}

/**
 * Returns true when containers may start. Volumes are also kept up to date with their sources while
 * containers run.
 */
function planMounts({ pod, memory, now }: PodInput, plan: Draft): boolean {
  if (holdOf(pod, memory)) return false;
  const { mount, isReady, wakeIn } = planVolumes(memory.volumes, now);
  if (mount) plan.add({ type: 'mountVolumes' });
  if (wakeIn !== undefined) plan.wakeIn(wakeIn);
  return isReady;
}

/**
 * Returns the containers that may run now. A sandbox is created only when the pod's own containers have
 * something left to do.
 */
function containersInTurn(
  { pod: { spec }, memory }: PodInput,
  latest: ReadonlyMap<string, ContainerState>,
  sandboxId: string | undefined,
): readonly Container[] {
  if (sandboxId === undefined) return spec.containers;
  const { isDone: isInitialized, current } = initProgress(spec, latest, sandboxId, memory);
  return isInitialized ? [...current, ...spec.containers] : current;
}

function planStartHooks(
  { pod, observed, memory }: PodInput,
  sandboxId: string | undefined,
  plan: Draft,
): void {
  for (const container of observed.containers) {
    const wanted = servingContainers(pod.spec).find(({ name }) => name === container.name);
    const goes = whyToStop(pod, container, sandboxId, memory) !== undefined;
    const hook = wanted && !goes ? dueStartHook(container, wanted, memory) : undefined;
    if (hook) plan.add(hook);
  }
}

function planStopsOfSome(input: PodInput, sandboxId: string | undefined, plan: Draft): void {
  const byReason = Map.groupBy(
    input.observed.containers.filter(({ state }) => state === 'running'),
    (container) => whyToStop(input.pod, container, sandboxId, input.memory),
  );
  for (const [why, containers] of byReason) {
    if (why !== undefined) planStops(containers, () => graceOf(input.pod), why, input, plan);
  }
  for (const container of byReason.get(undefined) ?? []) {
    if (!planOtherStop(container, input, plan)) planResize(input.pod, container, input, plan);
  }
}

/** Plans a stop for a failed probe or a stop in progress; returns true if there is one. */
function planOtherStop(container: ContainerState, input: PodInput, plan: Draft): boolean {
  const { pod, memory } = input;
  const wanted = servingContainers(pod.spec).find(({ name }) => name === container.name);
  const failed = wanted && probeStop(pod, wanted, container, memory);
  // A stop that has begun is completed, also when its reason is gone.
  const hasBegun = memory.stopBegan.has(container.id) || memory.stopping.has(container.id);
  if (failed) planStop(container, { ...failed, isTurn: true }, input, plan);
  else if (hasBegun)
    planStop(container, { graceSeconds: graceOf(pod), why: 'its stop had begun', isTurn: true }, input, plan);
  return failed !== undefined || hasBegun;
}

/** Returns the reason to stop a running container of a pod that continues; undefined for none. */
function whyToStop(
  { spec }: Pod,
  container: ContainerState,
  sandboxId: string | undefined,
  memory: PodMemory,
): string | undefined {
  const { name } = container;
  if (!findContainer(spec, name)) return 'the pod does not have this container';
  // A container that runs to completion is not interrupted: its next run, if any, uses the new definition.
  const wanted = servingContainers(spec).find((one) => one.name === name);
  if (wanted && container.specHash !== specHash(wanted)) return 'its definition changed';
  if (container.sandboxId !== sandboxId) return 'the sandbox of the container is gone';
  const hasFailed = wanted && pendingStart(container, wanted, memory)?.at === 'failed';
  return hasFailed ? 'FailedPostStartHook' : undefined;
}

/** Returns true when a container whose turn it is starts now. */
function isDue(
  wanted: Container,
  container: ContainerState | undefined,
  input: PodInput,
  plan: Draft,
): boolean {
  const { memory, now } = input;
  if (container?.state === 'running') return false;
  if (container?.state === 'exited') {
    if (stoppedToResize(wanted, container, memory)) return true;
    const changed = container.specHash !== specHash(wanted);
    if (!changed && !runsAgain(wanted, container, input, plan)) return false;
  }
  const failure = startFailureOf(memory, wanted);
  return failure === undefined || !mustWait(failure.retryAt, now, plan);
}

/** Returns true when a container that has ended, and whose definition is the same, is restarted now. */
function runsAgain(
  wanted: Container,
  container: ContainerState,
  { pod, memory, now }: PodInput,
  plan: Draft,
): boolean {
  // An init container runs again in each new sandbox.
  const again = initContainersOf(pod.spec).includes(wanted) || restartsAfter(pod.spec, container);
  if (!again && !endedForProbe(pod, container, memory)) return false;
  return !mustWait(restartAt(container), now, plan);
}

/** Returns true before the time `until`, at which the pod is planned again. */
function mustWait(until: number, now: number, plan: Draft): boolean {
  if (until <= now) return false;
  plan.wakeIn(until - now);
  return true;
}

/**
 * Returns true when an ephemeral container starts now. It runs once: however it ended, it does not start
 * again (upstream: computePodActions).
 */
function isEphemeralDue(
  wanted: EphemeralContainer,
  container: ContainerState | undefined,
  { pod, memory, now }: PodInput,
  plan: Draft,
): boolean {
  if (container && container.state !== 'created') return false;
  const reported = pod.status?.ephemeralContainerStatuses?.find(({ name }) => name === wanted.name);
  if (reported?.containerID !== undefined || holdOfEphemeral(pod, wanted)) return false;
  const failure = startFailureOf(memory, wanted);
  return failure === undefined || !mustWait(failure.retryAt, now, plan);
}

function planStart(
  wanted: Container | EphemeralContainer,
  latest: ReadonlyMap<string, ContainerState>,
  sandboxId: string,
  { pod }: PodInput,
  plan: Draft,
): void {
  const previous = latest.get(wanted.name);
  const target = 'targetContainerName' in wanted ? latest.get(wanted.targetContainerName ?? '') : undefined;
  const exited = previous?.state === 'exited' ? previous : undefined;
  const changed = exited !== undefined && exited.specHash !== specHash(wanted);
  // Containers that have been removed count too.
  const counted = restartsOf(pod, wanted.name);
  plan.add({
    type: 'startContainer',
    name: wanted.name,
    sandboxId,
    // A container that was created and never started (the agent ended in between) is removed and created
    // again.
    attempt: exited ? Math.max(exited.attempt, counted) + 1 : (previous?.attempt ?? counted),
    crashes: exited && !changed ? crashesOf(exited) + 1 : 0,
    ...(target?.state === 'running' && { processesOf: target.id }),
  });
}

function restartsOf({ status = {} }: Pod, name: string): number {
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  const found = [...containerStatuses, ...initContainerStatuses].find((one) => one.name === name);
  return found?.restartCount ?? 0;
}

function planDeletion({ pod, observed, memory, now }: PodInput): PodPlan {
  const plan = new Draft();
  const running = observed.containers.filter((container) => container.state === 'running');
  const grace = pod.metadata.deletionGracePeriodSeconds ?? graceOf(pod);
  planStops(running, () => grace, 'the pod is deleted', { memory, now }, plan);
  if (running.length > 0 || memory.reportedGone) return plan.finish();
  removeEverything(observed, plan);
  plan.add({ type: 'confirmDeletion' });
  return plan.finish();
}

function removeEverything(observed: ObservedPod, plan: Draft): void {
  for (const { id } of observed.containers) plan.add({ type: 'removeContainer', id });
  for (const { id } of observed.sandboxes) plan.add({ type: 'removeSandbox', id });
  plan.add({ type: 'removePodFiles' });
}

const graceOf = (pod: Pod) => graceSecondsOf(pod.spec);

/**
 * Plans the removal of old containers. The newest dead container of each name is kept, for `logs --previous`
 * and lastState.
 */
function planGarbage({ containers }: ObservedPod, plan: Draft): void {
  const newestDead = latestContainers({ containers: containers.filter(({ state }) => state === 'exited') });
  for (const container of containers) {
    const superseded = container.state === 'exited' && newestDead.get(container.name) !== container;
    if (superseded || container.state === 'created') plan.add({ type: 'removeContainer', id: container.id });
  }
}
