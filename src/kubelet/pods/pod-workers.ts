/** The workers of pods: one for each pod that is assigned to this node or has containers or files here. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { LocalPods } from './local-pods.ts';
import type { PodEnd } from './plan/actions.ts';
import { PodWorker, type PodWorkerContext } from './pod-worker.ts';

export interface PodWorkersContext extends PodWorkerContext {
  /** The list that holds the workers; only this class changes it. */
  readonly localPods: LocalPods;
  /**
   * Returns why a pod that is new on this node is rejected, given the pods that are here; undefined when it
   * is accepted.
   */
  refuse(pod: Pod, others: readonly Pod[]): PodEnd | undefined;
  /** Called when nothing of a pod is left here. */
  onGone(): void;
}

export class PodWorkers {
  readonly #context: PodWorkersContext;
  readonly #workers: Map<string, PodWorker>;
  #paused = true;

  constructor(context: PodWorkersContext) {
    this.#context = context;
    this.#workers = context.localPods.workers;
  }

  /** Returns the pods that are assigned to this node, each with its newest status on this node. */
  pods(): readonly Pod[] {
    return this.#context.localPods.list();
  }

  update(pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata;
    // A pod with a status from this node was accepted before, perhaps by an earlier run of the agent.
    const isNew = pod.status?.startTime === undefined && deletionTimestamp === undefined;
    const end =
      isNew && !this.#workers.has(uid)
        ? this.#context.refuse(pod, this.#context.localPods.allocated())
        : undefined;
    if (end) this.#context.counts.rejected(end.reason);
    this.#worker(uid).update(pod, end);
  }

  /**
   * Ends a pod for good; resolves when none of its containers runs any more, at once for a pod that is not
   * here.
   */
  async end(uid: string, end: PodEnd): Promise<void> {
    await this.#workers.get(uid)?.end(end);
  }

  /** Stops a pod that the API server does not have (any more). */
  orphan(uid: string): void {
    this.#worker(uid).orphan();
    this.#context.localPods.wakeDeferred();
  }

  /** Resolves when nothing is left on this node of a pod that the API server does not have (any more). */
  async gone(uid: string): Promise<void> {
    await this.#workers.get(uid)?.gone;
  }

  wake(uid: string): void {
    this.#workers.get(uid)?.wake();
    this.#sweep();
  }

  /** Stops all work until `resume`, because the state of the containers is not known. The initial state. */
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
