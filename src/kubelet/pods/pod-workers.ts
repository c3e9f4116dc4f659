/** One worker for each pod that is wanted here or of which something is here. */
import type { Pod } from '../../api/core/v1/pod.ts';
import { isPodTerminal } from '../../api/core/v1/pod-conditions.ts';
import type { PodEnd } from './plan/actions.ts';
import { PodWorker, type PodWorkerContext } from './pod-worker.ts';

export interface PodWorkersContext extends PodWorkerContext {
  /** Why a pod that is new on this node is rejected, given those that are here; undefined when it is accepted. */
  refuse(pod: Pod, others: readonly Pod[]): PodEnd | undefined;
  /** Nothing is here any more of a pod. */
  onGone(): void;
}

export class PodWorkers {
  readonly #context: PodWorkersContext;
  readonly #workers = new Map<string, PodWorker>();
  #paused = true;

  constructor(context: PodWorkersContext) {
    this.#context = context;
  }

  /** The pods that are wanted here, each with the newest status this agent knows. */
  pods(): readonly Pod[] {
    return [...this.#workers.values()].flatMap(({ pod }) => pod ?? []);
  }

  /** The same as they were given of this node. */
  allocated(): readonly Pod[] {
    return [...this.#workers.values()].flatMap(({ allocated }) => allocated ?? []);
  }

  /** It has not ended, as far as this node knows. */
  isActive(uid: string): boolean {
    const pod = this.#workers.get(uid)?.pod;
    return pod !== undefined && !isPodTerminal(pod);
  }

  /** There may be room now for what pods that wait for a resize ask for. */
  wakeDeferred(): void {
    for (const worker of this.#workers.values()) if (worker.isDeferred) worker.wake();
  }

  update(pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata;
    // A pod with a status from this node was accepted before, perhaps by an earlier run of the agent.
    const isNew = pod.status?.startTime === undefined && deletionTimestamp === undefined;
    const end = isNew && !this.#workers.has(uid) ? this.#context.refuse(pod, this.allocated()) : undefined;
    if (end) this.#context.counts.rejected(end.reason);
    this.#worker(uid).update(pod, end);
  }

  /** Ends a pod for good; resolves when nothing of it runs any more, at once for a pod that is not here. */
  async end(uid: string, end: PodEnd): Promise<void> {
    await this.#workers.get(uid)?.end(end);
  }

  /** The API server does not have it (any more): what runs of it ends. */
  orphan(uid: string): void {
    this.#worker(uid).orphan();
    this.wakeDeferred();
  }

  /** Resolves when nothing is here any more of a pod that is not wanted here (any more). */
  async gone(uid: string): Promise<void> {
    await this.#workers.get(uid)?.gone;
  }

  wake(uid: string): void {
    this.#workers.get(uid)?.wake();
    this.#sweep();
  }

  /** Nothing is done until `resume`: the state of the containers is not known. The initial state. */
  pause(): void {
    this.#paused = true;
    for (const worker of this.#workers.values()) worker.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const worker of this.#workers.values()) worker.resume();
  }

  has(uid: string): boolean {
    return this.#workers.has(uid);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
  }

  #worker(uid: string): PodWorker {
    let worker = this.#workers.get(uid);
    if (!worker) {
      worker = new PodWorker(uid, this.#context, this.#paused);
      this.#workers.set(uid, worker);
    }
    return worker;
  }

  #sweep(): void {
    for (const [uid, worker] of this.#workers) {
      if (!worker.finished) continue;
      this.#workers.delete(uid);
      this.#context.onGone();
    }
  }
}
