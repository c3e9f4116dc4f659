/** The effect of each action: one entry per action. No decisions are made here. */

import { findContainer } from '../../api/core/v1/container/ephemeral-containers.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { podResource } from '../../api/core/v1/pod/pod.ts';
import { isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import type { Clock } from '../../base/clock.ts';
import { currentSpan, inChildSpan } from '../../base/tracing/current-span.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import { specHash } from '../containers/plan/spec-hash.ts';
import { type StartContext, startContainer } from '../containers/start-container.ts';
import { StartError } from '../containers/start-error.ts';
import type { ObservedPod } from '../runtime/observed-pod.ts';
import { podAddresses } from '../runtime/pod-network.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import type { Sandboxes } from '../runtime/sandboxes.ts';
import type { GroupReader } from '../usage/group-reader.ts';
import type { VolumeState } from '../volumes/plan/volume-state.ts';
import type { Failure, PodAction, PodEnd, PodMemory, ResizeMemory, StartFailure } from './plan/actions.ts';
import { nextFailure } from './plan/restart-backoff.ts';
import type { PodCounts } from './pod-counts.ts';
import type { PodHooks } from './pod-hooks.ts';
import type { StatusWriter } from './status-writer.ts';

export interface ExecuteContext extends StartContext {
  readonly clock: Clock;
  readonly cache: RuntimeCache;
  readonly sandboxes: Sandboxes;
  /** Memory that containers use. */
  readonly groups: Pick<GroupReader, 'memory'>;
  readonly statuses: Pick<StatusWriter, 'set' | 'observe' | 'forget' | 'flush'>;
  readonly counts: PodCounts;
  /** Rejects when a host port that the pod requests is used by another program. */
  readonly requireHostPorts: (pod: Pod) => Promise<void>;
  /** Resolves when the pod's host ports are forwarded to it. */
  readonly leadHostPorts: (pod: Pod) => Promise<void>;
  /** Resolves when the network policies that select the pod are in force for one of its addresses. */
  readonly protect: (pod: Pod, ip: string) => Promise<void>;
}

/** PodMemory, writable by the pod's worker. */
export interface MutableMemory extends PodMemory {
  canMountImages: boolean;
  readonly startFailures: Map<string, StartFailure>;
  sandboxFailure: Failure | undefined;
  readonly stopBegan: Map<string, number>;
  readonly stopping: Map<string, number>;
  readonly terminationMessages: Map<string, string>;
  reportedGone: boolean;
  endIsKnown: boolean;
  volumesRemoved: boolean;
  end: PodEnd | undefined;
  resize: ResizeMemory | undefined;
  volumes: readonly VolumeState[];
  /** True when the pod's name files (hosts, resolv.conf) are known to exist. */
  isNamed: boolean;
}

/** The pod that an action is for; `pod` is undefined when the API server no longer has it. */
export interface Target {
  readonly uid: string;
  readonly pod: Pod | undefined;
  readonly observed: ObservedPod;
  readonly memory: MutableMemory;
  readonly hooks: PodHooks;
  readonly signal: AbortSignal;
}

/**
 * Delay before a failed resize is retried: a container that uses more than its new limit may use less later.
 */
const resizeRetryMs = 10_000;

type Effects = {
  readonly [T in PodAction['type']]: (
    context: ExecuteContext,
    target: Target,
    action: Extract<PodAction, { type: T }>,
  ) => Promise<void>;
};

const effects: Effects = {
  async mountVolumes({ volumes }, target) {
    await volumes.mount(known(target));
  },

  async createSandbox(context, target, { attempt }) {
    const pod = known(target);
    const { memory } = target;
    context.counts.podStarts();
    try {
      await context.requireHostPorts(pod);
      const hostname = context.names.hostname(pod);
      const sandbox = await context.startInTurn(() => context.sandboxes.acquire(pod, attempt, hostname));
      await writeNames(context, pod, sandbox.ip);
      await context.cache.refresh(sandbox.id);
      memory.isNamed = true;
      memory.sandboxFailure = undefined;
    } catch (error) {
      context.counts.podFailed();
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
      if (!memory.isNamed) {
        await writeNames(context, pod, sandbox.ip);
        memory.isNamed = true;
      }
      await prepareNetwork(context, pod, sandbox.ip);
      context.counts.containerStarts(pod, action.name);
      const id = await startContainer(context, pod, action, sandbox, signal);
      memory.startFailures.delete(action.name);
      await context.cache.refresh(id);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      context.counts.containerFailed(pod, action.name, error.reason);
      const hash = hashOf(pod, action.name);
      const last = memory.startFailures.get(action.name);
      const previous = last?.specHash === hash ? last : undefined;
      const failure = nextFailure(previous, error.reason, error.message, context.clock.now());
      memory.startFailures.set(action.name, { ...failure, specHash: hash, image: error.image });
    }
  },

  async runHook(_context, { pod, observed, hooks }, run) {
    const container = observed.containers.find(({ id }) => id === run.id);
    const sandbox = observed.sandboxes.find(({ id }) => id === container?.sandboxId);
    hooks.begin(run, pod, sandbox?.ip);
  },

  async beginStop(context, target, { id, name, why, message }) {
    target.memory.stopBegan.set(id, context.clock.now());
    emitStop(context, target, message ?? stopping(name, why));
  },

  async terminateContainer(context, target, { id, name, why, message }) {
    try {
      await context.runtime.terminate(id);
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.reason !== 'Failed') throw error;
      // The container still counts as stopping: otherwise it would never be killed.
      const failed = `error killing pod: failed to "KillContainer" for ${JSON.stringify(name)} with KillContainerError: ${JSON.stringify(error.message)}`;
      if (target.pod) context.events.event(target.pod, 'Warning', 'FailedKillPod', failed);
    }
    target.memory.stopping.set(id, context.clock.now());
    if (!target.memory.stopBegan.has(id)) emitStop(context, target, message ?? stopping(name, why));
  },

  async resizeContainer(context, target, { id, name, resources }) {
    const { runtime, cache, groups, clock, events } = context;
    try {
      const { pid = 0 } = target.observed.containers.find((container) => container.id === id) ?? {};
      const used = (await groups.memory({ id, pid }))?.usage ?? 0;
      if (resources.memory > 0 && used > resources.memory)
        throw new Error(
          `container ${name} uses ${used} bytes of memory, more than the limit of ${resources.memory}`,
        );
      await runtime.updateResources(id, resources);
      target.memory.resize = { ...target.memory.resize, failure: undefined };
    } catch (error) {
      const { message } = error as Error;
      if (target.pod && !target.memory.resize?.failure)
        events.event(target.pod, 'Warning', 'ResizeError', message);
      const failure = { message, retryAt: clock.now() + resizeRetryMs };
      target.memory.resize = { ...target.memory.resize, failure };
    }
    await cache.refresh(id);
  },

  async killContainer({ runtime, cache }, { memory }, { id }) {
    await runtime.kill(id);
    forgetStop(memory, id);
    await cache.refresh(id);
  },

  async removeContainer({ runtime, cache }, { memory, hooks }, { id }) {
    await runtime.remove(id);
    await hooks.forget(id);
    forgetStop(memory, id);
    memory.terminationMessages.delete(id);
    await cache.refresh(id);
  },

  async removeVolumes({ files, volumes }, { uid, memory, signal }) {
    volumes.rest(uid);
    await files.removeVolumes(uid, signal);
    memory.volumesRemoved = true;
  },

  async removePodFiles({ files, volumes }, target) {
    volumes.rest(target.uid);
    await files.remove(target.uid, target.signal);
    target.memory.isNamed = false;
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
      // The pod has been deleted, or another one of the same name has replaced it.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    target.memory.reportedGone = true;
  },
};

/** Executes a plan in order; consecutive starts overlap. Stops at the first failure. */
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
  currentSpan()?.keep();
  const attributes = 'name' in action ? { 'k8s.container.name': action.name } : {};
  return inChildSpan(action.type, attributes, () => run(context, target, action));
}

/**
 * Resolves when the pod's network policies and host ports are in force. A pod without them must not run: it
 * would be open to everybody, or reachable by nobody.
 */
async function prepareNetwork(context: ExecuteContext, pod: Pod, ip: string | undefined): Promise<void> {
  const failed = (message: string, error: Error) =>
    new StartError('RunContainerError', `${message}: ${error.message}`, { cause: error });
  const addresses = ip === undefined ? [] : podAddresses(ip, context.second);
  await Promise.all(addresses.map((address) => context.protect(pod, address))).catch((error) => {
    throw failed('cannot start before its network policies', error);
  });
  await context.leadHostPorts(pod).catch((error) => {
    throw failed('cannot set host ports', error);
  });
}

function known({ pod, uid }: Target): Pod {
  if (!pod) throw new Error(`pod ${uid} is no longer bound to this node`);
  return pod;
}

const stopping = (name: string, why: string) => `Stopping container ${name}: ${why}`;

function hashOf({ spec }: Pod, name: string): string {
  const wanted = findContainer(spec, name);
  return wanted ? specHash(wanted) : '';
}

function emitStop({ events }: ExecuteContext, { pod }: Target, message: string): void {
  if (pod) events.event(pod, 'Normal', 'Killing', message);
}

function forgetStop({ stopBegan, stopping }: MutableMemory, id: string): void {
  stopBegan.delete(id);
  stopping.delete(id);
}

async function writeNames(
  { files, names, events, second }: ExecuteContext,
  pod: Pod,
  ip: string | undefined,
): Promise<void> {
  const { uid } = pod.metadata;
  await files.make(uid);
  const addresses = ip === undefined ? [] : podAddresses(ip, second);
  for (const warning of await names.write(pod, addresses, files.directory(uid)))
    events.event(pod, 'Warning', 'DNSConfigForming', warning);
}

function sandboxFailed(context: ExecuteContext, pod: Pod, memory: MutableMemory, error: Error): void {
  const reason = 'FailedCreatePodSandBox';
  context.events.event(pod, 'Warning', reason, error.message);
  memory.sandboxFailure = nextFailure(memory.sandboxFailure, reason, error.message, context.clock.now());
}
