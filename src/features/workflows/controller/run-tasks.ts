/** Starts the tasks of runs that the service accounts of their workflows may use. */
import type { Lister } from '../../../client/informer.ts';
import type { RunEvent } from '../../../states-language/run/advance.ts';
import type { Workflow } from '../api/workflow.ts';
import type { WorkflowRun } from '../api/workflow-run.ts';
import { failed } from './call-outcome-plan.ts';
import type { FunctionTasks, Task } from './function-tasks.ts';
import type { TaskObjects } from './task-objects.ts';

export class RunTasks {
  readonly #functions: FunctionTasks;
  readonly #objects: TaskObjects;
  readonly #workflows: Lister<Workflow>;
  /** Tasks that the service account may use, by the uid of the run. */
  readonly #allowed = new Map<string, Set<string>>();

  constructor(functions: FunctionTasks, objects: TaskObjects, workflows: Lister<Workflow>) {
    this.#functions = functions;
    this.#objects = objects;
    this.#workflows = workflows;
  }

  /** Starts the tasks that are not running, and records the outcomes that are known at once. */
  async begin(run: WorkflowRun, tasks: readonly Task[]): Promise<void> {
    const { uid, namespace = '' } = run.metadata;
    const settled: [Task, RunEvent][] = [];
    for (const task of tasks) {
      const event = await this.#begun(run, task);
      if (event) settled.push([task, event]);
    }
    for (const [task, event] of settled) this.#functions.settle(uid, namespace, task, event);
  }

  /** Starts the task if it is not running. Returns its outcome if it is known at once. */
  async #begun(run: WorkflowRun, task: Task): Promise<RunEvent | undefined> {
    const { namespace = '', uid } = run.metadata;
    if (this.#functions.eventOf(uid, task.id)) return undefined;
    const workflow = this.#workflows.get(`${namespace}/${run.spec.workflow}`);
    const allowed = this.#allowed.getOrInsertComputed(uid, () => new Set<string>());
    if (!allowed.has(task.id) && !(await this.#objects.mayUse(run, workflow, task))) {
      const { type, name, namespace: other } = task.resource;
      const account = workflow?.spec.serviceAccountName;
      const cause = `the service account ${namespace}/${account} may not use ${type} ${other}/${name}`;
      return failed(task.id, 'States.Permissions', cause);
    }
    allowed.add(task.id);
    if (task.resource.type !== 'function') return this.#objects.look(run, task);
    const mark = run.status?.calls?.find(({ id }) => id === task.id);
    this.#functions.ensure(uid, namespace, task, mark);
    return undefined;
  }

  /** Discards the records about the tasks of a run. */
  forget(uid: string): void {
    this.#allowed.delete(uid);
  }

  clear(): void {
    this.#allowed.clear();
  }
}
