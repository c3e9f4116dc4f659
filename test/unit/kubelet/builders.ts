/** Pods, containers and tables of actions for tests of the kubelet: a valid base, and changes of it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Container } from '../../../src/api/core/v1/types.gen.ts';
import { specHash } from '../../../src/kubelet/containers/plan/spec-hash.ts';
import type { StartFailureReason } from '../../../src/kubelet/containers/plan/start.ts';
import type { PodAction, PodMemory, StartFailure } from '../../../src/kubelet/pods/plan/actions.ts';
import { computePodActions } from '../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import type { ObservedPod } from '../../../src/kubelet/runtime/observed-pod.ts';
import type { ContainerState, SandboxState } from '../../../src/kubelet/runtime/runtime.ts';
import { fromWire } from '../../fixtures/kinds.ts';

export const now = Date.UTC(2026, 0, 1, 12);
export const seconds = (count: number) => count * 1000;

export function makePod(spec: object = {}, metadata: object = {}, status?: object): Pod {
  return fromWire(podResource, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'uid-1', ...metadata },
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'app:1' }], ...spec },
    ...(status && { status }),
  });
}

export const reference = { uid: 'uid-1', name: 'web', namespace: 'shop' };

export function makeSandbox(more: Partial<SandboxState> = {}): SandboxState {
  return {
    kind: 'sandbox',
    id: 'sandbox-0',
    pod: reference,
    state: 'running',
    pid: 10,
    ip: '10.244.0.2',
    hostname: 'vm',
    attempt: 0,
    createdAt: now - seconds(60),
    ...more,
  };
}

export function makeContainer(more: Partial<ContainerState> = {}): ContainerState {
  const { name = 'main', attempt = 0, image = 'app:1', state = 'running' } = more;
  return {
    kind: 'container',
    id: `${name}-${attempt}`,
    pod: reference,
    name,
    sandboxId: 'sandbox-0',
    state,
    pid: state === 'running' ? 11 : 0,
    image,
    imageId: 'sha256:1',
    specHash: specHash({ name, image }),
    attempt,
    crashes: 0,
    createdAt: now - seconds(50),
    startedAt: state === 'created' ? undefined : now - seconds(49),
    finishedAt: state === 'exited' ? now : undefined,
    exitCode: 0,
    oomKilled: false,
    error: '',
    terminationMessageFile: '',
    gracePeriodSeconds: 30,
    stopTurn: 0,
    ...more,
  };
}

export const exited = (exitCode: number, more: Partial<ContainerState> = {}) =>
  makeContainer({ state: 'exited', exitCode, ...more });

export const observed = (...objects: readonly (SandboxState | ContainerState)[]): ObservedPod => ({
  sandboxes: objects.filter((object) => object.kind === 'sandbox'),
  containers: objects.filter((object) => object.kind === 'container'),
});

export function makeMemory(more: Partial<PodMemory> = {}): PodMemory {
  return {
    canMountImages: true,
    startFailures: new Map(),
    sandboxFailure: undefined,
    volumes: [],
    stopBegan: new Map(),
    hooks: new Map(),
    stopping: new Map(),
    probes: new Map(),
    terminationMessages: new Map(),
    reportedGone: false,
    endIsKnown: false,
    volumesRemoved: false,
    ...more,
  };
}

export const failure = (
  reason: StartFailureReason,
  retryIn: number,
  count = 1,
  of: Pick<Container, 'name' | 'image'> = { name: 'main', image: 'app:1' },
): StartFailure => ({
  reason,
  message: `${reason} happened`,
  count,
  failedAt: now - seconds(1),
  retryAt: now + seconds(retryIn),
  specHash: specHash(of),
});

/** Returns an action in a few words, with all of its fields. */
export function short(action: PodAction): string {
  switch (action.type) {
    case 'createSandbox':
      return `createSandbox ${action.attempt}`;
    case 'startContainer':
      return `start ${action.name} in ${action.sandboxId} attempt ${action.attempt} crashes ${action.crashes}`;
    case 'runHook':
      return `run ${action.hook} of ${action.name} ${action.id}`;
    case 'beginStop':
      return `begin to stop ${action.name} ${action.id}: ${action.why}`;
    case 'terminateContainer':
      return `terminate ${action.name} ${action.id}: ${action.why}`;
    case 'resizeContainer':
      return `resize ${action.name} ${action.id} ${JSON.stringify(action.resources)}`;
    case 'killContainer':
      return `kill ${action.name} ${action.id}`;
    case 'removeContainer':
    case 'removeSandbox':
      return `${action.type} ${action.id}`;
    case 'mountVolumes':
    case 'removeVolumes':
    case 'removePodFiles':
    case 'confirmDeletion':
      return action.type;
  }
}

/** A pod as it is found on the node, and the plan for it. */
export interface ActionCase {
  readonly name: string;
  /** `makePod()` if absent. */
  readonly pod?: Pod;
  /** Sandboxes and containers of the pod that the runtime lists; none if absent. */
  readonly objects?: readonly (SandboxState | ContainerState)[];
  readonly memory?: Partial<PodMemory>;
  /** Short form of each action. */
  readonly actions: readonly string[];
  /** Milliseconds until the plan is computed again; absent if only an event can change it. */
  readonly requeueAfter?: number;
}

/** Returns the plan for a pod: its actions in their short form, and the milliseconds until the next plan. */
export function planOf(
  pod: Pod,
  objects: readonly (SandboxState | ContainerState)[],
  memory: Partial<PodMemory> = {},
  at = now,
) {
  const plan = computePodActions({
    pod,
    observed: observed(...objects),
    memory: makeMemory(memory),
    now: at,
  });
  return { actions: plan.actions.map(short), requeueAfter: plan.requeueAfter };
}

/** Declares a test for each row: the plan has these actions and this requeue time, and no others. */
export function actionCases(rows: readonly ActionCase[]): void {
  for (const { name, pod = makePod(), objects = [], memory, actions, requeueAfter } of rows)
    it(name, () => assert.deepEqual(planOf(pod, objects, memory), { actions, requeueAfter }));
}
