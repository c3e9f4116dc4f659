/** What each action does: one entry an action, and nothing is decided here. */

import type { Pod } from '../api/core/v1/pod.ts';
import { podResource } from '../api/core/v1/pod.ts';
import { isConflict, isNotFound } from '../apimachinery/status-error.ts';
import type { Clock } from '../base/clock.ts';
import type {
  Failure,
  ObservedPod,
  PodAction,
  PodEnd,
  PodMemory,
  StartFailureReason,
} from './plan/actions.ts';
import { unusedProbes } from './plan/held-pod.ts';
import { mountDelayMs, nextFailure, restartDelayMs } from './plan/restart-backoff.ts';
import { VolumeError } from './plan/volume-error.ts';
import type { RuntimeCache } from './runtime-cache.ts';
import type { Sandboxes } from './sandboxes.ts';
import { type StartContext, StartError, startContainer } from './start-container.ts';
import type { StatusWriter } from './status-writer.ts';

export interface ExecuteContext extends StartContext {
  readonly clock: Clock;
  readonly cache: RuntimeCache;
  readonly sandboxes: Sandboxes;
  readonly statuses: StatusWriter;
  /** Rejects when a port of this machine that the pod asks for is somebody else's. */
  readonly requireHostPorts: (pod: Pod) => Promise<void>;
}

/** PodMemory as its owner holds it. */
export interface MutableMemory extends PodMemory {
  readonly startFailures: Map<string, Failure<StartFailureReason>>;
  sandboxFailure: Failure | undefined;
  readonly stopping: Map<string, number>;
  readonly terminationMessages: Map<string, string>;
  reportedGone: boolean;
  end: PodEnd | undefined;
  /** The pod's files and volumes are known to be there. */
  prepared: boolean;
}

/** The pod that an action is for; `pod` is undefined when the API server no longer has it. */
export interface Target {
  readonly uid: string;
  readonly pod: Pod | undefined;
  readonly observed: ObservedPod;
  readonly memory: MutableMemory;
  readonly signal: AbortSignal;
}

type Effects = {
  readonly [T in PodAction['type']]: (
    context: ExecuteContext,
    target: Target,
    action: Extract<PodAction, { type: T }>,
  ) => Promise<void>;
};

const effects: Effects = {
  async createSandbox(context, target, { attempt }) {
    const pod = known(target);
    const { memory } = target;
    try {
      await context.requireHostPorts(pod);
      await context.files.prepareVolumes(pod);
      const hostname = context.files.hostname(pod);
      const sandbox = await context.startInTurn(() => context.sandboxes.acquire(pod, attempt, hostname));
      await prepareNames(context, pod, sandbox.ip);
      await context.cache.refresh(sandbox.id);
      memory.prepared = true;
      memory.sandboxFailure = undefined;
      const probes = unusedProbes(pod);
      if (probes !== undefined) context.events.event(pod, 'Warning', 'ProbesNotRun', probes);
    } catch (error) {
      sandboxFailed(context, pod, memory, error as Error);
    }
  },

  async removeSandbox({ cache, sandboxes }, { observed }, { id }) {
    const sandbox = observed.sandboxes.find((candidate) => candidate.id === id);
    await sandboxes.remove({ id, ip: sandbox?.ip });
    await cache.refresh(id);
  },

  async startContainer(context, target, action) {
    const pod = known(target);
    const { memory, observed, signal } = target;
    const sandbox = observed.sandboxes.find(({ id }) => id === action.sandboxId);
    if (!sandbox) throw new Error(`pod ${pod.metadata.name}: its sandbox is gone`);
    try {
      if (!memory.prepared) {
        await context.files.prepareVolumes(pod);
        await prepareNames(context, pod, sandbox.ip);
        memory.prepared = true;
        memory.sandboxFailure = undefined;
      }
      const id = await startContainer(context, pod, action, sandbox, signal);
      memory.startFailures.delete(action.name);
      await context.cache.refresh(id);
    } catch (error) {
      if (error instanceof VolumeError) return sandboxFailed(context, pod, memory, error);
      if (!(error instanceof StartError)) throw error;
      const previous = memory.startFailures.get(action.name);
      memory.startFailures.set(
        action.name,
        nextFailure(previous, error.reason, error.message, context.clock.now()),
      );
    }
  },

  async terminateContainer(context, target, { id, name, why }) {
    await context.runtime.terminate(id);
    target.memory.stopping.set(id, context.clock.now());
    if (target.pod) {
      context.events.event(target.pod, 'Normal', 'Killing', `Stopping container ${name}: ${why}`);
    }
  },

  async killContainer({ runtime, cache }, { memory }, { id }) {
    await runtime.kill(id);
    memory.stopping.delete(id);
    await cache.refresh(id);
  },

  async removeContainer({ runtime, cache }, { memory }, { id }) {
    await runtime.remove(id);
    memory.stopping.delete(id);
    memory.terminationMessages.delete(id);
    await cache.refresh(id);
  },

  async removePodFiles({ files }, target) {
    await files.remove(target.uid, target.signal);
    target.memory.prepared = false;
    if (!target.pod) target.memory.reportedGone = true;
  },

  async confirmDeletion({ client, statuses }, target) {
    const { name, namespace, uid } = known(target).metadata;
    await statuses.flush(uid);
    try {
      await client
        .resource(podResource)
        .delete(name, namespace, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      // The pod is deleted, or another of the same name replaced it.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    target.memory.reportedGone = true;
  },
};

/** Carries out a plan in order; starts that follow each other overlap. Stops at the first failure. */
export async function execute(
  context: ExecuteContext,
  target: Target,
  actions: readonly PodAction[],
): Promise<void> {
  const starts = actions.filter(({ type }) => type === 'startContainer');
  for (const action of actions) {
    if (action.type !== 'startContainer') await effect(context, target, action);
  }
  const results = await Promise.allSettled(starts.map((action) => effect(context, target, action)));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

function effect<T extends PodAction['type']>(
  context: ExecuteContext,
  target: Target,
  action: Extract<PodAction, { type: T }>,
): Promise<void> {
  const run = effects[action.type as T];
  return run(context, target, action);
}

function known({ pod, uid }: Target): Pod {
  if (!pod) throw new Error(`pod ${uid} is no longer bound to this node`);
  return pod;
}

async function prepareNames(context: ExecuteContext, pod: Pod, ip: string | undefined): Promise<void> {
  for (const warning of await context.files.prepareNames(pod, ip)) {
    context.events.event(pod, 'Warning', 'DNSConfigForming', warning);
  }
}

function sandboxFailed(context: ExecuteContext, pod: Pod, memory: MutableMemory, error: Error): void {
  const reason = error instanceof VolumeError ? 'FailedMount' : 'FailedCreatePodSandBox';
  context.events.event(pod, 'Warning', reason, error.message);
  const delay = reason === 'FailedMount' ? mountDelayMs : restartDelayMs;
  memory.sandboxFailure = nextFailure(
    memory.sandboxFailure,
    reason,
    error.message,
    context.clock.now(),
    delay,
  );
}
