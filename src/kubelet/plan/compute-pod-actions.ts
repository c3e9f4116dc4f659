/**
 * The heart of the node agent: (pod, what runs, what is remembered, now) → what to do next. Level-triggered: the
 * plan is computed from nothing but its arguments, each plan is safe to carry out in part, and once everything is
 * as it should be the plan is empty. The rules are those of pkg/kubelet/kuberuntime computePodActions.
 */

import { ephemeralContainersOf } from '../../api/core/v1/ephemeral-containers.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import { isPodTerminal } from '../../api/core/v1/pod-conditions.ts';
import type { Container, EphemeralContainer } from '../../api/core/v1/types.gen.ts';
import type { ContainerState } from '../runtime/runtime.ts';
import type { ObservedPod, PodAction, PodMemory, PodPlan } from './actions.ts';
import { holdOf, holdOfEphemeral } from './held-pod.ts';
import { crashesOf, restartAt } from './restart-backoff.ts';
import { specHash } from './spec-hash.ts';

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

/** For what runs here of a pod that the API server does not have. */
export function computeOrphanActions(
  observed: ObservedPod,
  memory: PodMemory,
  now: number,
  /** Overrides what the containers' own pod wanted. */
  gracePeriodSeconds?: number,
): PodPlan {
  const plan = new Draft();
  const running = observed.containers.filter((container) => container.state === 'running');
  for (const container of running) {
    const grace = gracePeriodSeconds ?? container.gracePeriodSeconds;
    planStop(container, grace, 'the pod is gone', { memory, now }, plan);
  }
  if (running.length === 0 && !memory.reportedGone) removeEverything(observed, plan);
  return plan.finish();
}

/** The newest container of each name: its attempt counts up. */
export function latestContainers({
  containers,
}: Pick<ObservedPod, 'containers'>): ReadonlyMap<string, ContainerState> {
  const oldestFirst = containers.toSorted((a, b) => a.attempt - b.attempt);
  return new Map(oldestFirst.map((container) => [container.name, container]));
}

/** Whether an exited container starts again by the pod's restart policy alone. */
export function restartsAfterExit(policy: Pod['spec']['restartPolicy'], exitCode: number): boolean {
  if (policy === 'Never') return false;
  return policy === 'OnFailure' ? exitCode !== 0 : true;
}

class Draft {
  readonly #actions: PodAction[] = [];
  #wakeIn: number | undefined;

  add(action: PodAction): void {
    this.#actions.push(action);
  }

  wakeIn(ms: number): void {
    this.#wakeIn = Math.min(this.#wakeIn ?? ms, ms);
  }

  finish(): PodPlan {
    return { actions: this.#actions, requeueAfter: this.#wakeIn };
  }
}

/** Every container has ended for good. */
function isDone({ pod, observed }: PodInput): boolean {
  const latest = latestContainers(observed);
  return pod.spec.containers.every((wanted) => {
    const container = latest.get(wanted.name);
    return (
      container?.state === 'exited' &&
      container.specHash === specHash(wanted) &&
      !restartsAfterExit(pod.spec.restartPolicy, container.exitCode)
    );
  });
}

/** A pod at its end keeps its dead containers for their logs and gives its address back. */
function planRest({ pod, observed, memory, now }: PodInput, plan: Draft): void {
  const grace = memory.end?.gracePeriodSeconds ?? graceOf(pod);
  const running = observed.containers.filter((container) => container.state === 'running');
  const why = memory.end?.message ?? 'the pod has ended';
  for (const container of running) planStop(container, grace, why, { memory, now }, plan);
  if (running.length > 0) return;
  for (const { id } of observed.sandboxes) plan.add({ type: 'removeSandbox', id });
  planGarbage(observed, plan);
}

function planRun(input: PodInput, plan: Draft): void {
  const { pod, observed, memory, now } = input;
  const [sandbox] = observed.sandboxes
    .filter(({ state }) => state === 'running')
    .toSorted((a, b) => b.attempt - a.attempt);
  for (const other of observed.sandboxes) {
    if (other !== sandbox) plan.add({ type: 'removeSandbox', id: other.id });
  }
  planGarbage(observed, plan);
  const latest = latestContainers(observed);
  const due = pod.spec.containers.filter((wanted) =>
    planContainer(wanted, latest.get(wanted.name), sandbox?.id, input, plan),
  );
  const added = ephemeralContainersOf(pod.spec);
  for (const container of observed.containers) {
    if (container.state !== 'running') continue;
    if (added.some(({ name }) => name === container.name)) {
      planEphemeralStop(container, sandbox?.id, input, plan);
    } else if (!pod.spec.containers.some(({ name }) => name === container.name)) {
      planStop(container, graceOf(pod), 'the pod does not have this container', input, plan);
    }
  }
  const looks = sandbox
    ? added.filter((wanted) => isEphemeralDue(wanted, latest.get(wanted.name), input, plan))
    : [];
  const starts = holdOf(pod) ? [] : [...due, ...looks];
  if (starts.length === 0) return;
  if (memory.sandboxFailure && memory.sandboxFailure.retryAt > now) {
    plan.wakeIn(memory.sandboxFailure.retryAt - now);
    return;
  }
  if (sandbox) {
    for (const wanted of starts) planStart(wanted, latest, sandbox.id, plan);
    return;
  }
  // Containers of a sandbox that is gone must end before the next one takes their place.
  if (observed.containers.some(({ state }) => state === 'running')) return;
  const attempts = observed.sandboxes.map(({ attempt }) => attempt);
  const started = observed.containers.length > 0 ? 1 : 0;
  plan.add({ type: 'createSandbox', attempt: Math.max(-1 + started, ...attempts) + 1 });
}

/** Whether the container is to be started now; adds what must happen before. */
function planContainer(
  wanted: Container,
  container: ContainerState | undefined,
  sandboxId: string | undefined,
  input: PodInput,
  plan: Draft,
): boolean {
  const { pod, memory, now } = input;
  const changed = container !== undefined && container.specHash !== specHash(wanted);
  if (container?.state === 'running') {
    if (changed) planStop(container, graceOf(pod), 'its definition changed', input, plan);
    else if (container.sandboxId !== sandboxId) {
      planStop(container, graceOf(pod), 'the sandbox of the container is gone', input, plan);
    }
    return false;
  }
  if (container?.state === 'exited' && !changed) {
    if (!restartsAfterExit(pod.spec.restartPolicy, container.exitCode)) return false;
    const wait = restartAt(container) - now;
    if (wait > 0) {
      plan.wakeIn(wait);
      return false;
    }
  }
  const failure = memory.startFailures.get(wanted.name);
  if (failure && failure.retryAt > now && !(changed && failure.failedAt < container.createdAt)) {
    plan.wakeIn(failure.retryAt - now);
    return false;
  }
  return true;
}

/** It runs once: whatever its end was, it does not start again (upstream: computePodActions). */
function isEphemeralDue(
  wanted: EphemeralContainer,
  container: ContainerState | undefined,
  { pod, memory, now }: PodInput,
  plan: Draft,
): boolean {
  if (container && container.state !== 'created') return false;
  const reported = pod.status?.ephemeralContainerStatuses?.find(({ name }) => name === wanted.name);
  if (reported?.containerID !== undefined || holdOfEphemeral(pod, wanted)) return false;
  const failure = memory.startFailures.get(wanted.name);
  if (!failure || failure.retryAt <= now) return true;
  plan.wakeIn(failure.retryAt - now);
  return false;
}

function planEphemeralStop(
  container: ContainerState,
  sandboxId: string | undefined,
  input: PodInput,
  plan: Draft,
): void {
  if (container.sandboxId === sandboxId) return;
  planStop(container, graceOf(input.pod), 'the sandbox of the container is gone', input, plan);
}

function planStart(
  wanted: Container | EphemeralContainer,
  latest: ReadonlyMap<string, ContainerState>,
  sandboxId: string,
  plan: Draft,
): void {
  const previous = latest.get(wanted.name);
  const target = 'targetContainerName' in wanted ? latest.get(wanted.targetContainerName ?? '') : undefined;
  const exited = previous?.state === 'exited' ? previous : undefined;
  const changed = exited !== undefined && exited.specHash !== specHash(wanted);
  plan.add({
    type: 'startContainer',
    name: wanted.name,
    sandboxId,
    // A container that was created and never started (the agent ended in between) is removed and created again.
    attempt: exited ? exited.attempt + 1 : (previous?.attempt ?? 0),
    crashes: exited && !changed ? crashesOf(exited) + 1 : 0,
    ...(target?.state === 'running' && { processesOf: target.id }),
  });
}

function planDeletion({ pod, observed, memory, now }: PodInput): PodPlan {
  const plan = new Draft();
  const running = observed.containers.filter((container) => container.state === 'running');
  const grace = pod.metadata.deletionGracePeriodSeconds ?? graceOf(pod);
  for (const container of running) planStop(container, grace, 'the pod is deleted', { memory, now }, plan);
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

const graceOf = (pod: Pod) => pod.spec.terminationGracePeriodSeconds;

/** Ask first; kill when the grace period is over; in between, wake up for that. */
function planStop(
  container: ContainerState,
  graceSeconds: number,
  why: string,
  { memory, now }: { readonly memory: PodMemory; readonly now: number },
  plan: Draft,
): void {
  const { id, name } = container;
  const askedAt = memory.stopping.get(id);
  const left = (askedAt ?? now) + graceSeconds * 1000 - now;
  if (left <= 0) {
    plan.add({ type: 'killContainer', id, name });
    return;
  }
  if (askedAt === undefined) plan.add({ type: 'terminateContainer', id, name, why });
  plan.wakeIn(left);
}

/** Of each name the newest dead container stays, for `logs --previous` and lastState. */
function planGarbage({ containers }: ObservedPod, plan: Draft): void {
  const newestDead = latestContainers({ containers: containers.filter(({ state }) => state === 'exited') });
  for (const container of containers) {
    const superseded = container.state === 'exited' && newestDead.get(container.name) !== container;
    if (superseded || container.state === 'created') plan.add({ type: 'removeContainer', id: container.id });
  }
}
