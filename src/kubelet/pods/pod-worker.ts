/**
 * Everything that the agent does for one pod, strictly one step after the other: observe, report, plan,
 * execute, until nothing is left to do (step-loop.ts).
 */

import { isTerminalPhase } from '../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { PodStatus } from '../../api/core/v1/types.gen.ts';
import type { LoopMeter } from '../../base/event-loop/loop-meter.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Tracer } from '../../base/tracing/span.ts';
import { PodProbes } from '../probes/pod-probes.ts';
import type { ProbeContext } from '../probes/probe-loop.ts';
import type { ObservedPod } from '../runtime/observed-pod.ts';
import type { PodObserver } from '../runtime/pod-observer.ts';
import { readAllocation, writeAllocation } from './allocations.ts';
import { type ExecuteContext, execute, type MutableMemory } from './execute.ts';
import { lastWords } from './last-words.ts';
import type { PendingResize, PodEnd, PodPlan } from './plan/actions.ts';
import { deadlineExceeded, deadlineIn } from './plan/active-deadline.ts';
import { type Allocation, allocatedPod, allocationFrom, allocationOf, isResized } from './plan/allocation.ts';
import { computeOrphanActions, computePodActions } from './plan/compute-pod-actions.ts';
import { holdOf } from './plan/held-pod.ts';
import { pastStartHooks } from './plan/hooks.ts';
import { isOwnCondition } from './plan/pod-conditions.ts';
import { computePodStatus } from './plan/pod-status.ts';
import { statusEvents } from './plan/status-events.ts';
import { type HookContext, PodHooks } from './pod-hooks.ts';
import { PodStartTrace } from './pod-start-trace.ts';
import { type NextStep, StepLoop } from './step-loop.ts';

export interface PodWorkerContext extends ExecuteContext, HookContext, ProbeContext {
  readonly log: Logger;
  /** Undefined where tracing is off. */
  readonly tracer?: Tracer;
  /** Measures which work blocks the event loop; undefined where that is not measured. */
  readonly loopMeter?: LoopMeter;
  /** Called each time that a pod's status has been computed. */
  onStatus(pod: Pod, status: PodStatus): void;
  /** Returns the reason why this node cannot grant a pod's resize now; undefined when it can. */
  resizeProblem(pod: Pod): PendingResize | undefined;
  /** Undefined for none. */
  readonly podObserver: PodObserver;
  /** Returns true when the engine, as last seen, can mount images. */
  canMountImages(): boolean;
  /** Returns true when mounts below a read-only volume can be made read-only too. */
  canMountRecursiveReadOnly(): boolean;
  /** Called when a pod's allocation has changed. */
  onAllocated(): void;
}

export class PodWorker {
  readonly uid: string;
  readonly #context: PodWorkerContext;
  readonly #memory: MutableMemory;
  readonly #loop: StepLoop;
  readonly #probes: PodProbes;
  readonly #hooks: PodHooks;
  readonly #start: PodStartTrace | undefined;
  readonly #ended = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #pod: Pod | undefined;
  /** Undefined until the first step, which reads the allocation from disk if it is stored there. */
  #allocation: Allocation | undefined;
  /** Grace period of the last known pod's deletion, once the API server no longer has the pod. */
  #orphanGrace: number | undefined;
  #status: PodStatus | undefined;
  #reportedHold: string | undefined;
  /** Aborted when waiting for an image has become pointless. */
  #waiting = new AbortController();

  constructor(uid: string, context: PodWorkerContext, paused: boolean) {
    this.uid = uid;
    this.#context = context;
    const step = () => this.#next();
    const failed = (error: unknown, afterMs: number) => this.#warn(error, afterMs);
    this.#loop = new StepLoop({ clock: context.clock, step, failed }, paused);
    this.#start = context.tracer && new PodStartTrace(context.tracer, context.clock);
    this.#probes = new PodProbes(context, () => this.wake());
    this.#hooks = new PodHooks(context, context.files.directory(uid), () => this.wake());
    this.#memory = {
      canMountImages: false,
      startFailures: new Map(),
      sandboxFailure: undefined,
      stopBegan: new Map(),
      hooks: this.#hooks.states,
      stopping: new Map(),
      probes: this.#probes.results,
      terminationMessages: new Map(),
      reportedGone: false,
      endIsKnown: false,
      volumesRemoved: false,
      end: undefined,
      resize: undefined,
      volumes: [],
      isNamed: false,
    };
  }

  get pod(): Pod | undefined {
    return this.#pod && this.#withOwnStatus(this.#pod);
  }

  /**
   * The pod with its allocated resources, which may differ from its requests and from the current resources
   * of its containers.
   */
  get allocated(): Pod | undefined {
    const { pod } = this;
    if (!pod) return undefined;
    const { containerStatuses: _, initContainerStatuses: __, ...status } = pod.status ?? {};
    return allocatedPod({ ...pod, status }, this.#allocation ?? allocationOf(pod));
  }

  /** True while the pod's resize waits for room on this node. */
  get isDeferred(): boolean {
    return this.#memory.resize?.pending?.reason === 'Deferred';
  }

  /** True once everything of a pod that the API server no longer has is removed. */
  get finished(): boolean {
    return !this.#pod && this.#memory.reportedGone && !this.#loop.isRunning;
  }

  /** Resolves when nothing is left on this node of a pod that the API server no longer has. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** Passes a new version of the pod. With `end` the pod is rejected before any part of it starts. */
  update(pod: Pod, end?: PodEnd): void {
    if (!this.#pod) this.#memory.reportedGone = false;
    this.#pod = pod;
    this.#start?.see(pod);
    this.#context.statuses.observe(pod);
    if (end) void this.end(end);
    if (pod.metadata.deletionTimestamp !== undefined) this.#stopWaiting();
    this.wake();
  }

  /**
   * Ends the pod for good; resolves when none of its containers runs any more. The first reason counts; a pod
   * that has already ended by itself is not changed.
   */
  end(end: PodEnd): Promise<void> {
    if (!this.#memory.end && !this.#hasEnded) {
      this.#memory.end = end;
      if (end.signal !== undefined) this.#context.counts.evicted(end.signal);
      if (this.#pod) this.#context.events.event(this.#pod, 'Warning', end.reason, end.message);
      this.#stopWaiting();
    }
    this.wake();
    return this.#ended.promise;
  }

  /** Marks the pod as no longer present in the API server: everything of it is stopped and removed. */
  orphan(): void {
    this.#orphanGrace = this.#pod?.metadata.deletionGracePeriodSeconds;
    this.#pod = undefined;
    this.#start?.end();
    this.#memory.reportedGone = false;
    this.#probes.stop();
    this.#context.probeCounts.forget(this.uid);
    this.#context.podObserver.forget(this.uid);
    this.#context.statuses.forget(this.uid);
    this.#stopWaiting();
    this.wake();
  }

  wake(): void {
    this.#loop.wake();
  }

  /** Starts no further step until `resume`, because the state of the containers is not known. */
  pause(): void {
    this.#loop.pause();
  }

  resume(): void {
    this.#loop.resume();
  }

  /** Finishes the current step and leaves the pod's containers as they are. */
  async stop(): Promise<void> {
    this.#loop.stop();
    this.#start?.end();
    this.#probes.stop();
    this.#hooks.stop();
    this.#waiting.abort();
    await this.#loop.idle();
  }

  async #next(): Promise<NextStep> {
    const { actions, requeueAfter } = await this.#timeStep();
    return { isDue: actions.length > 0, after: requeueAfter };
  }

  #warn(error: unknown, afterMs: number): void {
    if (this.#waiting.signal.aborted) return;
    this.#context.log.warn('an action for a pod failed; trying again', {
      pod: this.#pod ? `${this.#pod.metadata.namespace}/${this.#pod.metadata.name}` : this.uid,
      error: errorMessage(error),
      afterMs,
    });
  }

  async #timeStep(): Promise<PodPlan> {
    const { clock, counts } = this.#context;
    const isGoing = this.#memory.end !== undefined || this.#pod?.metadata.deletionTimestamp !== undefined;
    const kind = !this.#pod || this.#hasEnded ? 'terminated' : isGoing ? 'terminating' : 'sync';
    const from = clock.monotonic();
    try {
      return await (this.#start ? this.#start.sync(kind, () => this.#step()) : this.#step());
    } finally {
      counts.stepped(kind, (clock.monotonic() - from) / 1000);
    }
  }

  async #step(): Promise<PodPlan> {
    const { cache, clock } = this.#context;
    const observed = cache.observe(this.uid);
    this.#memory.canMountImages = this.#context.canMountImages();
    await this.#readLastWords(observed);
    await this.#hooks.read();
    this.#hooks.follow(observed);
    this.#allowWaiting();
    await this.#allocate(observed);
    const refused = this.#pod && (await this.#context.podObserver.see(this.#pod, observed));
    if (refused) void this.end({ ...refused, disruption: false });
    const pod = this.#pod && allocatedPod(this.#pod, this.#allocation ?? new Map());
    const plan = pod
      ? this.#planFor(this.#withOwnStatus(pod), observed)
      : computeOrphanActions(observed, this.#memory, clock.now(), this.#orphanGrace);
    if (!this.#pod && this.#memory.reportedGone && plan.actions.length === 0) this.#gone.resolve();
    if (this.#hasEnded && plan.actions.length === 0 && plan.requeueAfter === undefined) this.#ended.resolve();
    await execute(
      this.#context,
      {
        uid: this.uid,
        pod,
        observed,
        memory: this.#memory,
        hooks: this.#hooks,
        signal: this.#waiting.signal,
      },
      plan.actions,
    );
    return plan;
  }

  /**
   * Lets the next actions wait again after an interruption. Throws once the worker stops: a pull of an image
   * would hold up the end of the agent.
   */
  #allowWaiting(): void {
    if (this.#loop.isStopped) throw this.#waiting.signal.reason;
    if (this.#waiting.signal.aborted) this.#waiting = new AbortController();
  }

  /**
   * Grants the pod's requested resources where this node has them. The allocation is written to disk before
   * anything else uses it.
   */
  async #allocate({ containers }: ObservedPod): Promise<void> {
    const { files, events } = this.#context;
    const directory = files.directory(this.uid);
    const pod = this.#pod;
    if (!pod) return;
    this.#allocation ??= new Map([...allocationFrom(pod, containers), ...(await readAllocation(directory))]);
    const memory = this.#memory;
    if (!isResized(pod, this.#allocation)) {
      if (memory.resize?.pending) memory.resize = { ...memory.resize, pending: undefined };
      return;
    }
    if (memory.end || this.#hasEnded || pod.metadata.deletionTimestamp !== undefined) return;
    const pending = this.#context.resizeProblem(pod);
    if (pending && pending.message !== memory.resize?.pending?.message)
      events.event(pod, 'Warning', `Resize${pending.reason}`, pending.message);
    memory.resize = { pending };
    if (pending) return;
    const allocation = allocationOf(pod);
    await writeAllocation(directory, allocation);
    this.#allocation = allocation;
    this.#context.onAllocated();
  }

  get #hasEnded(): boolean {
    return this.#memory.reportedGone || isTerminalPhase((this.#status ?? this.#pod?.status)?.phase);
  }

  #planFor(pod: Pod, observed: ObservedPod): PodPlan {
    const { clock, events, nodeIP, second, statuses, loopMeter } = this.#context;
    const { namespace, name } = pod.metadata;
    loopMeter?.mark({ kind: 'pod', describe: () => ({ pod: `${namespace}/${name}` }) });
    const now = clock.now();
    const memory = this.#memory;
    if (!memory.end && !this.#hasEnded && (deadlineIn(pod, now) ?? 1) <= 0) void this.end(deadlineExceeded);
    if (!memory.reportedGone) {
      this.#emitHold(pod);
      this.#probes.observe(pod, observed);
      const canMountRecursiveReadOnly = this.#context.canMountRecursiveReadOnly();
      const node = { nodeIP, second, canMountRecursiveReadOnly };
      const status = computePodStatus({ pod, observed, memory, ...node, now });
      for (const { type, reason, message } of statusEvents(pod, this.#status, status, memory))
        events.event(pod, type, reason, message);
      this.#status = status;
      statuses.set(pod, status);
      this.#context.onStatus(pod, status);
      this.#start?.judge(status);
    }
    const reported = this.#withOwnStatus(pod);
    this.#lookAtVolumes(pod);
    const isEnding = pod.metadata.deletionTimestamp !== undefined || memory.end !== undefined;
    memory.endIsKnown = isTerminalPhase(this.#pod?.status?.phase);
    this.#probes.follow(reported, pastStartHooks(pod, observed, memory), isEnding);
    const plan = computePodActions({ pod: reported, observed, memory, now });
    return memory.end || this.#hasEnded ? plan : untilDeadline(plan, deadlineIn(reported, now));
  }

  #lookAtVolumes(pod: Pod): void {
    const { volumes } = this.#context;
    if (this.#memory.end || this.#hasEnded) volumes.rest(this.uid);
    else if (pod.metadata.deletionTimestamp === undefined) this.#memory.volumes = volumes.look(pod);
  }

  /** Emits an event for a held pod, once for each run of the agent and again when the reason changes. */
  #emitHold(pod: Pod): void {
    const ending = pod.metadata.deletionTimestamp !== undefined || this.#memory.end !== undefined;
    const hold = ending ? undefined : holdOf(pod, this.#memory);
    if (hold && hold.message !== this.#reportedHold) {
      this.#context.events.event(pod, 'Warning', hold.reason, hold.message);
    }
    this.#reportedHold = hold?.message;
  }

  /**
   * Returns the pod with the status that this node reported last; the API server's copy may still have an
   * older one.
   */
  #withOwnStatus(pod: Pod): Pod {
    if (!this.#status) return pod;
    const own = (this.#status.conditions ?? []).filter(isOwnCondition);
    const foreign = (pod.status?.conditions ?? []).filter(
      ({ type }) => !own.some((mine) => mine.type === type),
    );
    return { ...pod, status: { ...pod.status, ...this.#status, conditions: [...own, ...foreign] } };
  }

  async #readLastWords(observed: ObservedPod): Promise<void> {
    for (const container of observed.containers) {
      if (container.state !== 'exited' || this.#memory.terminationMessages.has(container.id)) continue;
      const message = await lastWords(this.#context, this.#pod, container, this.#waiting.signal);
      this.#memory.terminationMessages.set(container.id, message);
    }
  }

  #stopWaiting(): void {
    if (this.#loop.isRunning) this.#waiting.abort();
  }
}

/** Returns the plan, woken again at the deadline. `left` is in milliseconds; undefined for no deadline. */
const untilDeadline = (plan: PodPlan, left: number | undefined): PodPlan =>
  left === undefined ? plan : { ...plan, requeueAfter: Math.min(plan.requeueAfter ?? left, left) };
