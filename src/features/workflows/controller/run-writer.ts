/** Writes runs of workflows with their history, in an order that a restart may interrupt at any point. */

import { findCondition } from '../../../apimachinery/conditions.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import { isOwnedBy, type ObjectKey } from '../../../apimachinery/meta.ts';
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import { isAlreadyExists } from '../../../apimachinery/status-error.ts';
import { rfc3339 } from '../../../base/clock.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import type { RunEvent } from '../../../states-language/run/advance.ts';
import { pending } from '../../../states-language/run/commands.ts';
import type { RunState } from '../../../states-language/run/state.ts';
import { type Workflow, workflowResource } from '../api/workflow.ts';
import { workflowHistoryResource } from '../api/workflow-history.ts';
import { historyName, type WorkflowHistoryEntry } from '../api/workflow-history-entry.ts';
import { hasEnded, type WorkflowRun, workflowRunResource } from '../api/workflow-run.ts';
import { type FunctionTasks, tasksOf, waitedOf } from './function-tasks.ts';
import { chunksOf } from './history-plan.ts';
import type { LiveRuns } from './live-runs.ts';
import { statusOf } from './run-status-plan.ts';

/** State of a run that is to be stored. */
export interface Next {
  readonly state: RunState;
  readonly definition: string;
  readonly history: readonly WorkflowHistoryEntry[];
}

export class RunWriter {
  readonly #context: ControllerContext;
  readonly #functions: FunctionTasks;
  readonly #live: LiveRuns;

  constructor(context: ControllerContext, functions: FunctionTasks, live: LiveRuns) {
    this.#context = context;
    this.#functions = functions;
    this.#live = live;
  }

  /**
   * Adds the workflow as the run's owner, so that the run is deleted with it. A run that is a task of another
   * run in its namespace is owned by that run.
   */
  async owned(run: WorkflowRun, workflow: Workflow): Promise<WorkflowRun> {
    const { name, namespace = '', uid, resourceVersion, ownerReferences = [] } = run.metadata;
    const isTaskHere = run.spec.parent?.namespace === namespace;
    if (isTaskHere || isOwnedBy(run, workflow)) return run;
    const { kind } = workflowResource;
    const owner = {
      apiVersion: apiVersionOf(workflowResource),
      kind,
      name: workflow.metadata.name,
      uid: workflow.metadata.uid,
    };
    const body = { metadata: { uid, resourceVersion, ownerReferences: [...ownerReferences, owner] } };
    return this.#context.client.resource(workflowRunResource).patch(name, namespace, 'merge', body);
  }

  /** Records that the run waits for its workflow. */
  async waits(run: WorkflowRun, message: string): Promise<void> {
    if (findCondition(run.status?.conditions, 'Started')?.message === message) return;
    const condition = {
      type: 'Started',
      status: 'False' as const,
      reason: 'WorkflowNotFound',
      message,
      lastTransitionTime: rfc3339(this.#context.clock.now()),
    };
    await this.#write(run, { phase: 'Pending', conditions: [condition] });
  }

  /** Records the end of a run that was stopped before it began. */
  async abortUnbegun(
    key: ObjectKey,
    run: WorkflowRun,
    { error = '', cause = '' }: Extract<RunEvent, { type: 'Stop' }>,
  ): Promise<WorkflowRun> {
    const completionTime = rfc3339(this.#context.clock.now());
    const written = await this.#write(run, {
      phase: 'Aborted',
      completionTime,
      error,
      cause,
      historyCount: 0,
    });
    this.#live.set(key, written);
    return written;
  }

  /**
   * Stores a run. Calls of functions of its own namespace are placed first, so that they are stored with the
   * state that makes them. Calls with a stored mark are not placed again: they may have been made at that
   * instance, and after a restart only the mark records the instance.
   */
  async store(key: ObjectKey, run: WorkflowRun, { state, definition, history }: Next): Promise<WorkflowRun> {
    const { uid, namespace = '' } = run.metadata;
    this.#live.follow(key, uid);
    const stored = run.status?.calls ?? [];
    for (const task of tasksOf(pending(state))) {
      const isMarked = stored.some(({ id }) => id === task.id);
      if (task.resource.type === 'function' && task.resource.namespace === undefined && !isMarked)
        await this.#functions.placeAtOnce(uid, namespace, task);
    }
    const rest = await this.#moveHistory(run, history);
    const marks = this.#functions.marksOf(uid);
    const renewed = new Set(marks.map(({ id }) => id));
    const calls = [...stored.filter(({ id }) => !renewed.has(id)), ...marks];
    const status = statusOf(run, { state, definition, history: rest, calls, now: this.#context.clock.now() });
    const written = await this.#write(run, status);
    this.#live.set(key, written, state);
    this.#functions.keepOnly(uid, waitedOf(state));
    return written;
  }

  /** Moves the history of an ended run to other objects, except for its end. */
  async trim(key: ObjectKey, run: WorkflowRun): Promise<WorkflowRun> {
    const history = await this.#moveHistory(run, run.status?.history ?? []);
    const written = await this.#write(run, { ...run.status, history: [...history] });
    this.#live.set(key, written);
    return written;
  }

  /** Moves only stored history: steps that were never stored may be executed differently after a restart. */
  async #moveHistory(
    run: WorkflowRun,
    history: readonly WorkflowHistoryEntry[],
  ): Promise<readonly WorkflowHistoryEntry[]> {
    const { name, namespace = '', uid } = run.metadata;
    const { chunks } = chunksOf(run.status?.history ?? [], hasEnded(run));
    const owner = { apiVersion: apiVersionOf(workflowRunResource), kind: 'WorkflowRun', name, uid };
    for (const entries of chunks) {
      const metadata = {
        name: historyName(name, (entries[0]?.id ?? 1) - 1),
        namespace,
        ownerReferences: [owner],
      };
      const spec = { run: name, entries: deepCopy([...entries]) };
      try {
        await this.#context.client
          .resource(workflowHistoryResource)
          .create({ apiVersion: 'minik8s.io/v1', kind: 'WorkflowHistory', metadata, spec });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    }
    return history.slice(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  }

  #write(run: WorkflowRun, status: NonNullable<WorkflowRun['status']>): Promise<WorkflowRun> {
    return this.#context.client.resource(workflowRunResource).updateStatus({ ...run, status });
  }
}
