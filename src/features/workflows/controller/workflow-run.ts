/**
 * Advances runs of workflows. A key names a run, whose status holds its whole state. An event is applied to
 * the state by the States Language (src/states-language), the state is stored, and only then the commands of
 * the state are executed. The status is therefore sufficient to continue after a restart.
 */
import { controllerRevisionResource } from '../../../api/apps/v1/controller-revision.ts';
import { jobResource } from '../../../api/batch/v1/job.ts';
import { type AccountRights, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey, objectKey, splitKey } from '../../../apimachinery/meta.ts';
import { isConflict, isNotFound } from '../../../apimachinery/status-error.ts';
import { onAbort } from '../../../base/abort.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import type { Definition } from '../../../states-language/definition/types.ts';
import { createExpressionThread } from '../../../states-language/jsonata/thread.ts';
import { type Advanced, advance, type RunEvent, startRun } from '../../../states-language/run/advance.ts';
import { pending } from '../../../states-language/run/commands.ts';
import type { RunState } from '../../../states-language/run/state.ts';
import type { Ports } from '../../../states-language/run/turn.ts';
import type { PlacedCalls } from '../../functions/api/placed-calls.ts';
import { type Workflow, workflowResource } from '../api/workflow.ts';
import { hasEnded, inputOf, type WorkflowRun, workflowRunResource } from '../api/workflow-run.ts';
import { keepDefinition, revisionName } from './definitions.ts';
import { FunctionTasks, tasksOf, waitedOf } from './function-tasks.ts';
import { chunksOf, entriesOf } from './history-plan.ts';
import { LiveRuns } from './live-runs.ts';
import { excessOfRun, executionOf, stateOf, statusOf } from './run-status-plan.ts';
import { RunTasks } from './run-tasks.ts';
import { type Next, RunWriter } from './run-writer.ts';
import { Shares } from './shares.ts';
import { isGone, TaskObjects } from './task-objects.ts';
import { runAnnotation, taskFinalizer } from './task-objects-plan.ts';

export const workflowRunRights: AccountRights = {
  own: [
    ['get list watch', 'minik8s.io', 'workflows'],
    ['update', 'minik8s.io', 'workflows/status'],
    ['get list watch create patch delete', 'minik8s.io', 'workflowruns'],
    ['update', 'minik8s.io', 'workflowruns/status'],
    ['create', 'minik8s.io', 'workflowhistories'],
    ['get list watch create delete', 'apps', 'controllerrevisions'],
    ['get list watch create patch delete', 'batch', 'jobs'],
    ['get', 'batch', 'cronjobs'],
    ['list', 'core', 'pods'],
    ['create', 'authorization.k8s.io', 'subjectaccessreviews'],
    writeEvents,
  ],
};

export interface WorkflowOptions {
  /** Places function calls; without it no function can be called. */
  readonly placedCalls?: PlacedCalls | undefined;
}

/** Maximum number of times that one run is stored before other runs get their turn. */
const maxRounds = 20;
/** Maximum number of runs that are advanced at once. */
const workers = 32;
const byWorkflow = 'by workflow';

export const workflowRunController =
  ({ placedCalls }: WorkflowOptions): ControllerFactory =>
  (context) =>
    new Runs(context, placedCalls).definition();

class Runs {
  readonly #context: ControllerContext;
  readonly #functions: FunctionTasks;
  readonly #objects: TaskObjects;
  readonly #runs;
  readonly #workflows;
  readonly #revisions;
  readonly #thread;
  readonly #shares = new Shares<ObjectKey>(workers);
  readonly #live: LiveRuns;
  readonly #writer: RunWriter;
  readonly #tasks: RunTasks;
  #term: AbortSignal | undefined;

  constructor(context: ControllerContext, calls: PlacedCalls | undefined) {
    const { informers, clock, events } = context;
    this.#context = context;
    const runs = informers.informerFor(workflowRunResource);
    runs.addIndex(byWorkflow, ({ metadata, spec }) => [`${metadata.namespace}/${spec.workflow}`]);
    this.#runs = runs.lister;
    this.#workflows = informers.informerFor(workflowResource).lister;
    this.#revisions = informers.informerFor(controllerRevisionResource).lister;
    this.#objects = new TaskObjects(context);
    this.#thread = createExpressionThread(clock);
    this.#live = new LiveRuns(this.#runs);
    this.#functions = new FunctionTasks({
      calls,
      clock,
      wake: (uid) => context.enqueue([this.#live.keyOf(uid) ?? []].flat()),
      report: (uid, message) => {
        const run = this.#live.runOf(uid);
        if (run) events.event(run, 'Warning', 'TaskWaits', message);
      },
    });
    this.#tasks = new RunTasks(this.#functions, this.#objects, this.#workflows);
    this.#writer = new RunWriter(context, this.#functions, this.#live);
  }

  definition(): ControllerDefinition {
    return {
      name: 'workflow-run',
      workers,
      watches: [
        watched(workflowRunResource, (run) => this.#keysOf(run)),
        watched(workflowResource, (workflow) => this.#waitingFor(workflow)),
        watched(jobResource, ({ metadata }) => [metadata.annotations?.[runAnnotation] ?? []].flat()),
      ],
      reconcile: (key, signal) => this.#inItsShare(key, signal),
    };
  }

  /** Returns the keys of the run and of its parent, and after its deletion the keys of its children. */
  #keysOf(run: WorkflowRun): readonly ObjectKey[] {
    const { parent } = run.spec;
    const key = objectKey(run);
    const isHere = this.#runs.get(key)?.metadata.uid === run.metadata.uid;
    return [
      key,
      ...(parent ? [`${parent.namespace}/${parent.name}`] : []),
      ...(isHere ? [] : this.#objects.childrenOf(run.metadata.uid).map(objectKey)),
    ];
  }

  #waitingFor(workflow: Workflow): readonly ObjectKey[] {
    const own = this.#runs.byIndex(byWorkflow, objectKey(workflow));
    return own.filter(({ status }) => status?.startTime === undefined).map(objectKey);
  }

  /** Starts a term of leadership. State in memory is not kept beyond a term. */
  #begins(signal: AbortSignal): void {
    if (this.#term === signal) return;
    this.#term = signal;
    onAbort(signal, () => {
      this.#functions.stop();
      this.#live.clear();
      this.#tasks.clear();
      void this.#thread.stop();
    });
  }

  /**
   * Reconciles the run if its namespace has a free share. Otherwise the run is enqueued again when a share is
   * free.
   */
  async #inItsShare(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { namespace } = splitKey(key);
    if (!this.#shares.enter(namespace, key)) return undefined;
    try {
      return await this.#reconcile(key, signal);
    } finally {
      const next = this.#shares.leave(namespace);
      if (next !== undefined) this.#context.enqueue([next]);
    }
  }

  async #reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    this.#begins(signal);
    const run = this.#newest(key);
    if (!run) return undefined;
    try {
      return await this.#drive(key, run);
    } catch (error) {
      if (isNotFound(error) && !this.#runs.get(key)) return undefined;
      if (isConflict(error)) await this.#reread(key, run);
      this.#forgetUnstored(key);
      throw error;
    }
  }

  #newest(key: ObjectKey): WorkflowRun | undefined {
    const { run, gone } = this.#live.newest(key);
    if (gone !== undefined) {
      this.#live.forget(key, gone);
      this.#forgetTasks(gone);
    }
    return run;
  }

  #forgetTasks(uid: string): void {
    this.#functions.forgetRun(uid);
    this.#tasks.forget(uid);
  }

  /** Continues from the stored version after another writer has changed the run. */
  async #reread(key: ObjectKey, { metadata }: WorkflowRun): Promise<void> {
    const { name, namespace } = metadata;
    const run = await ifPresent(this.#context.client.resource(workflowRunResource).get(name, namespace));
    if (run?.metadata.uid === metadata.uid) this.#live.set(key, run);
  }

  /**
   * Discards a state that was not stored: the next attempt may lead to another state, with tasks other than
   * the placed ones.
   */
  #forgetUnstored(key: ObjectKey): void {
    const run = this.#newest(key);
    if (!run) return;
    this.#live.set(key, run);
    const state = stateOf(run);
    if (state) this.#functions.keepOnly(run.metadata.uid, waitedOf(state));
    else this.#functions.forgetRun(run.metadata.uid);
  }

  async #drive(key: ObjectKey, given: WorkflowRun): Promise<ReconcileResult | undefined> {
    const isNew = given.status?.startTime === undefined && !hasEnded(given);
    let run = isNew ? await this.#begin(key, given) : given;
    if (!run) return undefined;
    for (let round = 0; round < maxRounds; round++) {
      const state = this.#live.stateOf(key, run);
      const written = await this.#writeNext(key, run, state);
      if (!written) return this.#act(key, run, state);
      run = written;
    }
    return { requeueAfter: 0 };
  }

  /** Stores the next state, or trims the history of an ended run. Returns undefined if neither is needed. */
  async #writeNext(
    key: ObjectKey,
    run: WorkflowRun,
    state: RunState | undefined,
  ): Promise<WorkflowRun | undefined> {
    if (!state) return hasChunks(run) ? this.#writer.trim(key, run) : undefined;
    const next = await this.#further(run, state);
    return next && this.#writer.store(key, run, next);
  }

  // ---- start of a run

  /** Starts the run. Returns undefined if it cannot begin yet, or never will. */
  async #begin(key: ObjectKey, given: WorkflowRun): Promise<WorkflowRun | undefined> {
    const { client } = this.#context;
    const { namespace = '' } = given.metadata;
    const stop = this.#stopOf(given);
    if (stop) return this.#writer.abortUnbegun(key, given, stop);
    const workflow = this.#workflows.get(`${namespace}/${given.spec.workflow}`);
    if (!workflow || isTerminating(workflow)) {
      await this.#writer.waits(given, `there is no workflow ${given.spec.workflow}`);
      return undefined;
    }
    const run = await this.#writer.owned(given, workflow);
    const { name, definition } = await keepDefinition(client, this.#revisions, workflow);
    const advanced = await startRun(definition, inputOf(run), executionOf(run), this.#ports(run));
    return this.#writer.store(key, run, {
      state: advanced.state,
      definition: name,
      history: entriesOf(advanced.history, []),
    });
  }

  // ---- progress of a run

  /**
   * Returns the state after the events that have occurred since the run was stored; undefined without events.
   */
  async #further(run: WorkflowRun, before: RunState): Promise<Next | undefined> {
    const { uid } = run.metadata;
    const events = await this.#eventsOf(run, before);
    const stored = run.status?.calls ?? [];
    const marks = this.#functions.marksOf(uid).filter((mark) => !stored.some((one) => deepEqual(one, mark)));
    if (events.length === 0 && marks.length === 0) return undefined;
    const definition = this.#definitionOf(run);
    const ports = this.#ports(run);
    let state = before;
    const history: Advanced['history'][number][] = [];
    for (const event of events) {
      const advanced = await advance(definition, state, event, ports);
      state = advanced.state;
      history.push(...advanced.history);
    }
    const earlier = run.status?.history ?? [];
    const next = {
      state,
      definition: run.status?.definition ?? '',
      history: [...earlier, ...entriesOf(history, earlier)],
    };
    const excess = excessOfRun(run, statusOf(run, { ...next, calls: [], now: ports.now }));
    if (excess === undefined || state.root === undefined) return next;
    const ended = await advance(definition, before, { type: 'Excess', cause: excess }, ports);
    return { ...next, state: ended.state, history: [...earlier, ...entriesOf(ended.history, earlier)] };
  }

  async #eventsOf(run: WorkflowRun, state: RunState): Promise<RunEvent[]> {
    const { uid } = run.metadata;
    const commands = pending(state);
    const waited = new Set(tasksOf(commands).map(({ id }) => id));
    const events: RunEvent[] = [];
    const stop = state.root && this.#stopOf(run);
    if (stop) events.push(stop);
    for (const command of commands) {
      const event = this.#eventOf(uid, command);
      if (event) events.push(event);
    }
    if (events.some(({ type }) => type === 'TaskStopped')) await this.#objects.release(uid, waited);
    return events;
  }

  /** Returns the event that answers a command; undefined if there is none yet. */
  #eventOf(uid: string, command: ReturnType<typeof pending>[number]): RunEvent | undefined {
    switch (command.type) {
      case 'cancelTask':
        this.#functions.forget(uid, command.id);
        return { type: 'TaskStopped', id: command.id };
      case 'startTask':
        return this.#functions.eventOf(uid, command.id);
      case 'setTimer':
        return command.due <= this.#context.clock.now() ? { type: 'Time' } : undefined;
      case 'continue':
        return { type: 'Continue' };
      default:
        return undefined;
    }
  }

  /** Returns a stop if the spec of the run, its deletion or the end of its parent run requires it. */
  #stopOf(run: WorkflowRun): Extract<RunEvent, { type: 'Stop' }> | undefined {
    const { stop, parent } = run.spec;
    if (stop) return { type: 'Stop', ...stop };
    if (isTerminating(run)) return { type: 'Stop', cause: 'the run was deleted' };
    if (parent && isGone(this.#runs.get(`${parent.namespace}/${parent.name}`), parent.uid))
      return { type: 'Stop', cause: 'its parent run is gone' };
    return undefined;
  }

  #definitionOf({ metadata, status, spec }: WorkflowRun): Definition {
    const name = status?.definition ?? '';
    const revision = this.#revisions.get(`${metadata.namespace}/${name}`);
    if (revision) return revision.data as unknown as Definition;
    // The cache may not show the revision yet.
    const workflow = this.#workflows.get(`${metadata.namespace}/${spec.workflow}`);
    if (workflow && revisionName(workflow) === name) return workflow.spec.definition as Definition;
    throw new Error(`ControllerRevision ${name}, with which the run began, does not exist`);
  }

  #ports({ metadata: { namespace = '' } }: WorkflowRun): Ports {
    const { clock, random } = this.#context;
    return {
      now: clock.now(),
      random,
      evaluate: (question) => this.#thread.evaluate(question, namespace),
    };
  }

  // ---- execution of stored commands

  #end(key: ObjectKey, run: WorkflowRun, state: RunState | undefined) {
    if (!state || state.stopping.length === 0) {
      this.#live.leave(key, run);
      this.#forgetTasks(run.metadata.uid);
    }
    return this.#leave(run);
  }

  async #act(
    key: ObjectKey,
    run: WorkflowRun,
    state: RunState | undefined,
  ): Promise<ReconcileResult | undefined> {
    const { uid } = run.metadata;
    const commands = state ? pending(state) : [];
    const tasks = tasksOf(commands);
    await this.#objects.release(uid, new Set(tasks.map(({ id }) => id)));
    if (hasEnded(run)) return this.#end(key, run, state);
    this.#live.follow(key, uid);
    await this.#tasks.begin(run, tasks);
    const timer = commands.find((one) => one.type === 'setTimer');
    return timer ? { requeueAfter: Math.max(0, timer.due - this.#context.clock.now()) } : undefined;
  }

  /** Releases an ended run. A run that is a task is kept until its parent has stored the outcome. */
  async #leave(run: WorkflowRun): Promise<undefined> {
    const { parent } = run.spec;
    if (!parent || !run.metadata.finalizers?.includes(taskFinalizer)) return undefined;
    const above = this.#runs.get(`${parent.namespace}/${parent.name}`);
    if (!isGone(above, parent.uid)) return undefined;
    await this.#objects.letGoRun(run);
    return undefined;
  }
}

const hasChunks = ({ status }: WorkflowRun) => chunksOf(status?.history ?? [], true).chunks.length > 0;
