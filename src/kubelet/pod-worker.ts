/**
 * Everything the agent does for one pod, strictly one step after the other: look, report, plan, carry out, until
 * nothing is left to do. Whoever learns that something may have changed calls `wake`; what changed is never passed
 * on, so nothing is lost when wakes come faster than work.
 */

import { findContainer } from '../api/core/v1/ephemeral-containers.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import { isTerminalPhase } from '../api/core/v1/pod-conditions.ts';
import type { PodStatus } from '../api/core/v1/types.gen.ts';
import { Backoff } from '../base/backoff.ts';
import type { Timer } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { type ExecuteContext, execute, type MutableMemory } from './execute.ts';
import type { ObservedPod, PodEnd, PodPlan } from './plan/actions.ts';
import { deadlineExceeded, deadlineIn } from './plan/active-deadline.ts';
import { computeOrphanActions, computePodActions } from './plan/compute-pod-actions.ts';
import { holdOf } from './plan/held-pod.ts';
import { computePodStatus } from './plan/pod-status.ts';

export interface PodWorkerContext extends ExecuteContext {
  readonly log: Logger;
  /** Called whenever a pod's status was computed. */
  onStatus(): void;
}

const allStatuses = ({ containerStatuses = [], ephemeralContainerStatuses = [] }: PodStatus = {}) => [
  ...containerStatuses,
  ...ephemeralContainerStatuses,
];

const retry = { initialMs: 500, maxMs: 30_000 };
/** Of what a container wrote, when it left no message of its own. */
const lastWords = { lines: 80, bytes: 2048 };

export class PodWorker {
  readonly uid: string;
  readonly #context: PodWorkerContext;
  readonly #memory: MutableMemory = {
    startFailures: new Map(),
    sandboxFailure: undefined,
    stopping: new Map(),
    terminationMessages: new Map(),
    reportedGone: false,
    end: undefined,
    prepared: false,
  };
  readonly #ended = Promise.withResolvers<void>();
  #pod: Pod | undefined;
  /** The grace period of the last known pod's deletion, once the pod is unknown. */
  #orphanGrace: number | undefined;
  #status: PodStatus | undefined;
  #toldHold: string | undefined;
  #dirty = false;
  #running: Promise<void> | undefined;
  #timer: Timer | undefined;
  readonly #backoff = new Backoff(retry);
  #stopped = false;
  #paused: boolean;
  /** Aborted when waiting for an image has become pointless. */
  #waiting = new AbortController();

  constructor(uid: string, context: PodWorkerContext, paused: boolean) {
    this.uid = uid;
    this.#context = context;
    this.#paused = paused;
  }

  get pod(): Pod | undefined {
    return this.#pod && this.#withOwnStatus(this.#pod);
  }

  /** Everything of a pod that the API server no longer has is removed. */
  get finished(): boolean {
    return !this.#pod && this.#memory.reportedGone && !this.#running;
  }

  /** With `end` the pod is rejected before anything of it starts. */
  update(pod: Pod, end?: PodEnd): void {
    if (!this.#pod) this.#memory.reportedGone = false;
    this.#pod = pod;
    this.#context.statuses.observe(pod);
    if (end) void this.end(end);
    if (pod.metadata.deletionTimestamp !== undefined) this.#stopWaiting();
    this.wake();
  }

  /**
   * Ends the pod for good; resolves when nothing of it runs any more. The first reason counts, and a pod that has ended
   * by itself stays as it is.
   */
  end(end: PodEnd): Promise<void> {
    if (!this.#memory.end && !this.#hasEnded) {
      this.#memory.end = end;
      if (this.#pod) this.#context.events.event(this.#pod, 'Warning', end.reason, end.message);
      this.#stopWaiting();
    }
    this.wake();
    return this.#ended.promise;
  }

  /** The API server does not have the pod any more. */
  orphan(): void {
    this.#orphanGrace = this.#pod?.metadata.deletionGracePeriodSeconds;
    this.#pod = undefined;
    this.#memory.reportedGone = false;
    this.#context.statuses.forget(this.uid);
    this.#stopWaiting();
    this.wake();
  }

  wake(): void {
    this.#dirty = true;
    if (this.#stopped || this.#paused) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      // `wake` may have been called after the last inspection and before this line.
      if (this.#dirty) this.wake();
    });
  }

  /** Starts no further step until `resume`: the state of the containers is not known. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.wake();
  }

  /** Finishes the step under way and leaves the pod as it is. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#waiting.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#dirty && !this.#stopped && !this.#paused) {
      this.#dirty = false;
      this.#timer?.cancel();
      try {
        const plan = await this.#step();
        this.#backoff.reset();
        if (plan.actions.length > 0) this.#dirty = true;
        else if (plan.requeueAfter !== undefined) this.#wakeAfter(plan.requeueAfter);
      } catch (error) {
        if (this.#stopped) return;
        const wait = this.#backoff.next();
        if (!this.#waiting.signal.aborted) {
          this.#context.log.warn('an action for a pod failed; trying again', {
            pod: this.#pod ? `${this.#pod.metadata.namespace}/${this.#pod.metadata.name}` : this.uid,
            error: errorMessage(error),
            afterMs: wait,
          });
        }
        this.#wakeAfter(wait);
      }
    }
  }

  async #step(): Promise<PodPlan> {
    const { cache, clock } = this.#context;
    const observed = cache.observe(this.uid);
    await this.#readLastWords(observed);
    if (this.#waiting.signal.aborted) this.#waiting = new AbortController();
    const plan = this.#pod
      ? this.#planFor(this.#withOwnStatus(this.#pod), observed)
      : computeOrphanActions(observed, this.#memory, clock.now(), this.#orphanGrace);
    if (this.#hasEnded && plan.actions.length === 0 && plan.requeueAfter === undefined) this.#ended.resolve();
    await execute(
      this.#context,
      {
        uid: this.uid,
        pod: this.#pod,
        observed,
        memory: this.#memory,
        signal: this.#waiting.signal,
      },
      plan.actions,
    );
    return plan;
  }

  get #hasEnded(): boolean {
    return this.#memory.reportedGone || isTerminalPhase((this.#status ?? this.#pod?.status)?.phase);
  }

  #planFor(pod: Pod, observed: ObservedPod): PodPlan {
    const { clock, nodeIP, statuses } = this.#context;
    const now = clock.now();
    const memory = this.#memory;
    if (!memory.end && !this.#hasEnded && (deadlineIn(pod, now) ?? 1) <= 0) void this.end(deadlineExceeded);
    if (!memory.reportedGone) {
      this.#tellHold(pod);
      const status = computePodStatus({ pod, observed, memory, nodeIP, now });
      this.#tellBackOffs(pod, status);
      this.#tellFailedStarts(pod, status);
      this.#status = status;
      statuses.set(pod, status);
      this.#context.onStatus();
    }
    const reported = this.#withOwnStatus(pod);
    const plan = computePodActions({ pod: reported, observed, memory, now });
    return memory.end || this.#hasEnded ? plan : untilDeadline(plan, deadlineIn(reported, now));
  }

  /** Once for each run of the agent, and again when the reason changes. */
  #tellHold(pod: Pod): void {
    const ending = pod.metadata.deletionTimestamp !== undefined || this.#memory.end !== undefined;
    const hold = ending ? undefined : holdOf(pod);
    if (hold && hold.message !== this.#toldHold) {
      this.#context.events.event(pod, 'Warning', hold.reason, hold.message);
    }
    this.#toldHold = hold?.message;
  }

  /** What was reported last is what counts, also while the server's copy lags behind. */
  #withOwnStatus(pod: Pod): Pod {
    if (!this.#status) return pod;
    const own = this.#status.conditions ?? [];
    const foreign = (pod.status?.conditions ?? []).filter(
      ({ type }) => !own.some((mine) => mine.type === type),
    );
    return { ...pod, status: { ...pod.status, ...this.#status, conditions: [...own, ...foreign] } };
  }

  #tellBackOffs(pod: Pod, status: PodStatus): void {
    for (const { name, state } of status.containerStatuses ?? []) {
      const before = this.#status?.containerStatuses?.find((other) => other.name === name);
      const reason = state?.waiting?.reason;
      if (reason === 'CrashLoopBackOff' && before?.state?.waiting?.reason !== reason) {
        const { name: podName, namespace, uid } = pod.metadata;
        const message = `Back-off restarting failed container ${name} in pod ${podName}_${namespace}(${uid})`;
        this.#context.events.event(pod, 'Warning', 'BackOff', message);
      }
    }
  }

  /** A program that could not be started ends its container at once: the event says so, with the reason. */
  #tellFailedStarts(pod: Pod, status: PodStatus): void {
    for (const { name, state, lastState } of allStatuses(status)) {
      const ended = state?.terminated ?? lastState?.terminated;
      if (ended?.reason !== 'ContainerCannotRun') continue;
      const before = allStatuses(this.#status).find((other) => other.name === name);
      const known = [before?.state?.terminated, before?.lastState?.terminated];
      if (known.some((other) => other?.containerID === ended.containerID)) continue;
      const message = `Error: failed to start container ${name}: ${ended.message}`;
      this.#context.events.event(pod, 'Warning', 'Failed', message);
    }
  }

  async #readLastWords(observed: ObservedPod): Promise<void> {
    const { files, runtime } = this.#context;
    for (const container of observed.containers) {
      const { id, name, state, exitCode } = container;
      if (state !== 'exited' || this.#memory.terminationMessages.has(id)) continue;
      let message = await files.readTerminationMessage(container.terminationMessageFile);
      const policy = this.#pod && findContainer(this.#pod.spec, name)?.terminationMessagePolicy;
      if (message === '' && policy === 'FallbackToLogsOnError' && exitCode !== 0) {
        const options = { follow: false, timestamps: false, tailLines: lastWords.lines, since: undefined };
        const chunks: Uint8Array[] = [];
        for await (const chunk of runtime.logs(id, options, this.#waiting.signal)) chunks.push(chunk);
        message = Buffer.concat(chunks).subarray(-lastWords.bytes).toString('utf8');
      }
      this.#memory.terminationMessages.set(id, message);
    }
  }

  #wakeAfter(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#context.clock.after(ms, () => this.wake());
  }

  #stopWaiting(): void {
    if (this.#running !== undefined) this.#waiting.abort();
  }
}

/** `left`: milliseconds, undefined for no deadline. */
const untilDeadline = (plan: PodPlan, left: number | undefined): PodPlan =>
  left === undefined ? plan : { ...plan, requeueAfter: Math.min(plan.requeueAfter ?? left, left) };
