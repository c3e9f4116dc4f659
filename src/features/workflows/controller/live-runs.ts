/** Newest known version of each run: the writes of this process may be ahead of the cache. */

import type { ObjectKey } from '../../../apimachinery/meta.ts';
import type { Lister } from '../../../client/informer.ts';
import type { RunState } from '../../../states-language/run/state.ts';
import type { WorkflowRun } from '../api/workflow-run.ts';
import { stateOf } from './run-status-plan.ts';

interface Live {
  readonly run: WorkflowRun;
  /** Parsed state of the status; undefined if it was not parsed yet. */
  readonly state: RunState | undefined;
}

export class LiveRuns {
  readonly #cached: Pick<Lister<WorkflowRun>, 'get'>;
  readonly #live = new Map<ObjectKey, Live>();
  /** Keys by uid, for runs that have calls. */
  readonly #keys = new Map<string, ObjectKey>();

  constructor(cached: Pick<Lister<WorkflowRun>, 'get'>) {
    this.#cached = cached;
  }

  /**
   * Returns the run of that name, and the uid of a deleted run that had the name before, which the caller
   * must remove.
   */
  newest(key: ObjectKey): { readonly run?: WorkflowRun | undefined; readonly gone?: string | undefined } {
    const run = this.#cached.get(key);
    const live = this.#live.get(key)?.run;
    if (!live) return { run };
    if (live.metadata.uid !== run?.metadata.uid) return { run, gone: live.metadata.uid };
    return { run: isNewer(live, run) ? live : run };
  }

  /** Returns the state of a run: as it was written, or parsed from its status. */
  stateOf(key: ObjectKey, run: WorkflowRun): RunState | undefined {
    const live = this.#live.get(key);
    const isSame = live?.run.metadata.resourceVersion === run.metadata.resourceVersion;
    return (isSame ? live.state : undefined) ?? stateOf(run);
  }

  set(key: ObjectKey, run: WorkflowRun, state?: RunState): void {
    this.#live.set(key, { run, state });
  }

  /** Records the key of a run by its uid. */
  follow(key: ObjectKey, uid: string): void {
    this.#keys.set(uid, key);
  }

  keyOf(uid: string): ObjectKey | undefined {
    return this.#keys.get(uid);
  }

  /** Returns the newest version of the run if its key is known; undefined once another run has its name. */
  runOf(uid: string): WorkflowRun | undefined {
    const key = this.#keys.get(uid);
    const run = key === undefined ? undefined : this.newest(key).run;
    return run?.metadata.uid === uid ? run : undefined;
  }

  /**
   * Ends the work on a run that has ended. Its newest version is kept until the cache shows it, so that the
   * run does not continue from an older status; the update of the cache enqueues the run again.
   */
  leave(key: ObjectKey, run: WorkflowRun): void {
    const seen = this.#cached.get(key);
    if (seen?.metadata.uid === run.metadata.uid && isNewer(run, seen)) this.set(key, run);
    else this.#live.delete(key);
    this.#keys.delete(run.metadata.uid);
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

const isNewer = ({ metadata: one }: WorkflowRun, { metadata: other }: WorkflowRun) =>
  BigInt(one.resourceVersion) > BigInt(other.resourceVersion);
