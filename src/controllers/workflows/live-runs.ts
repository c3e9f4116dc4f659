/** The newest that this process knows of each run: what it has written may be ahead of the cache. */
import type { WorkflowRun } from '../../api/minik8s/v1/workflow-run.ts';
import type { ObjectKey } from '../../apimachinery/meta.ts';
import type { Lister } from '../../client/informer.ts';
import type { RunState } from '../../states-language/run/state.ts';
import { stateOf } from './run-status-plan.ts';

interface Live {
  readonly run: WorkflowRun;
  /** What its status says, read; undefined when it was not read yet. */
  readonly state: RunState | undefined;
}

export class LiveRuns {
  readonly #cached: Pick<Lister<WorkflowRun>, 'get'>;
  readonly #live = new Map<ObjectKey, Live>();
  /** Keys by uid, of the runs that have calls. */
  readonly #keys = new Map<string, ObjectKey>();

  constructor(cached: Pick<Lister<WorkflowRun>, 'get'>) {
    this.#cached = cached;
  }

  /** The run of that name, and the uid of one that had the name before and is gone: the caller forgets it. */
  newest(key: ObjectKey): { readonly run?: WorkflowRun | undefined; readonly gone?: string | undefined } {
    const run = this.#cached.get(key);
    const live = this.#live.get(key)?.run;
    if (!live) return { run };
    if (live.metadata.uid !== run?.metadata.uid) return { run, gone: live.metadata.uid };
    const isAhead = BigInt(live.metadata.resourceVersion) > BigInt(run.metadata.resourceVersion);
    return { run: isAhead ? live : run };
  }

  /** The state of a run: as it was written, or read from its status. */
  stateOf(key: ObjectKey, run: WorkflowRun): RunState | undefined {
    const live = this.#live.get(key);
    const isSame = live?.run.metadata.resourceVersion === run.metadata.resourceVersion;
    return (isSame ? live.state : undefined) ?? stateOf(run);
  }

  set(key: ObjectKey, run: WorkflowRun, state?: RunState): void {
    this.#live.set(key, { run, state });
  }

  /** From now on its key is known by its uid. */
  follow(key: ObjectKey, uid: string): void {
    this.#keys.set(uid, key);
  }

  keyOf(uid: string): ObjectKey | undefined {
    return this.#keys.get(uid);
  }

  /** The newest of the run, if its key is known; undefined once another run has its name. */
  runOf(uid: string): WorkflowRun | undefined {
    const key = this.#keys.get(uid);
    const run = key === undefined ? undefined : this.newest(key).run;
    return run?.metadata.uid === uid ? run : undefined;
  }

  forget(key: ObjectKey, uid: string): void {
    this.#live.delete(key);
    this.#keys.delete(uid);
  }

  clear(): void {
    this.#live.clear();
    this.#keys.clear();
  }
}
