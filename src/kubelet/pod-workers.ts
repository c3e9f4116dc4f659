/** One worker for each pod that is wanted here or of which something is here. */
import type { Pod } from '../api/core/v1/pod.ts';
import { PodWorker, type PodWorkerContext } from './pod-worker.ts';

export class PodWorkers {
  readonly #context: PodWorkerContext;
  readonly #workers = new Map<string, PodWorker>();
  #paused = true;

  constructor(context: PodWorkerContext) {
    this.#context = context;
  }

  /** The pods that are wanted here, each with the newest status this agent knows. */
  pods(): readonly Pod[] {
    return [...this.#workers.values()].flatMap(({ pod }) => pod ?? []);
  }

  update(pod: Pod): void {
    this.#worker(pod.metadata.uid).update(pod);
  }

  /** The API server does not have it (any more): what runs of it ends. */
  orphan(uid: string): void {
    this.#worker(uid).orphan();
  }

  wake(uid: string): void {
    this.#workers.get(uid)?.wake();
    this.#sweep();
  }

  /** Until `resume` nothing is done: it is not known what is here. So it begins. */
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
    for (const [uid, worker] of this.#workers) if (worker.finished) this.#workers.delete(uid);
  }
}
