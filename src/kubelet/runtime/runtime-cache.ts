/**
 * The last observed state of the engine's objects. Events name an object to inspect again; a relist finds
 * changes that no event reported. The answer of an inspection is dropped when a later inspection of the same
 * object has begun, and its caller waits for the later one: once a refresh resolves, the cache holds its
 * result or a newer one.
 */
import type { ObservedPod } from './observed-pod.ts';
import type { RelistCounts } from './relist-counts.ts';
import type { ContainerRuntime, ContainerState, RuntimeObject, SandboxState } from './runtime.ts';

interface Look {
  readonly answer: Promise<RuntimeObject | undefined>;
  /** The uid of the pod that the object belongs to, once the answer has been stored. */
  readonly taken: Promise<string | undefined>;
}

export class RuntimeCache {
  readonly #runtime: ContainerRuntime;
  readonly #counts: RelistCounts | undefined;
  readonly #objects = new Map<string, RuntimeObject>();
  readonly #looks = new Map<string, Look>();

  constructor(runtime: ContainerRuntime, counts?: RelistCounts) {
    this.#runtime = runtime;
    this.#counts = counts;
  }

  observe(uid: string): ObservedPod {
    const sandboxes: SandboxState[] = [];
    const containers: ContainerState[] = [];
    for (const object of this.#objects.values()) {
      if (object.pod?.uid !== uid) continue;
      if (object.kind === 'sandbox') sandboxes.push(object);
      else containers.push(object);
    }
    return { sandboxes, containers };
  }

  sandboxes(): readonly SandboxState[] {
    return [...this.#objects.values()].filter((object) => object.kind === 'sandbox');
  }

  containers(): readonly ContainerState[] {
    return [...this.#objects.values()].filter((object) => object.kind === 'container');
  }

  /**
   * Returns the uids of pods of this name (`NAMESPACE/NAME`) that have objects here; such a pod may no longer
   * exist in the API.
   */
  podsNamed(name: string): ReadonlySet<string> {
    const uids = new Set<string>();
    for (const { pod } of this.#objects.values())
      if (pod && `${pod.namespace}/${pod.name}` === name) uids.add(pod.uid);
    return uids;
  }

  /** Returns the uid of every pod that has objects here. */
  podUids(): ReadonlySet<string> {
    const uids = new Set<string>();
    for (const { pod } of this.#objects.values()) if (pod) uids.add(pod.uid);
    return uids;
  }

  /** Inspects one object; resolves with the uid of the pod that it belongs or belonged to. */
  refresh(id: string): Promise<string | undefined> {
    const answer = this.#runtime.inspect(id);
    const taken = this.#take(id, answer);
    this.#looks.set(id, { answer, taken });
    return taken;
  }

  /** Compares the cache with the engine; resolves with the pods that had changed unnoticed. */
  relist(): Promise<ReadonlySet<string>> {
    return this.#counts ? this.#counts.time(() => this.#relist()) : this.#relist();
  }

  async #relist(): Promise<ReadonlySet<string>> {
    const listed = new Map((await this.#runtime.list()).map((summary) => [summary.id, summary]));
    const suspects = new Set<string>();
    for (const [id, { state }] of listed) if (this.#objects.get(id)?.state !== state) suspects.add(id);
    for (const id of this.#objects.keys()) if (!listed.has(id)) suspects.add(id);
    const changed = new Set<string>();
    for (const uid of await Promise.all([...suspects].map((id) => this.refresh(id)))) {
      if (uid !== undefined) changed.add(uid);
    }
    return changed;
  }

  async #take(id: string, answer: Look['answer']): Promise<string | undefined> {
    const before = this.#objects.get(id);
    const now = await answer;
    const newest = this.#looks.get(id);
    if (newest?.answer !== answer) return newest ? newest.taken : before?.pod?.uid;
    if (now) this.#objects.set(id, now);
    else {
      this.#objects.delete(id);
      this.#looks.delete(id);
    }
    return now?.pod?.uid ?? before?.pod?.uid;
  }
}
