/**
 * Runs tasks that are objects: runs of other workflows, and Jobs. The name of an object is derived from its
 * task, so that it is created once. A finalizer keeps the object until the run has stored its outcome.
 */
import { createHash } from 'node:crypto';
import { subjectAccessReviewResource } from '../../../api/authorization/v1/subject-access-review.ts';
import { cronJobResource } from '../../../api/batch/v1/cron-job.ts';
import { type Job, jobResource } from '../../../api/batch/v1/job.ts';
import { podResource } from '../../../api/core/v1/pod/pod.ts';
import { serviceAccountGroups, serviceAccountUserName } from '../../../apimachinery/account-user.ts';
import { type Draft, isTerminating, type KubeObject } from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { isAlreadyExists, StatusError } from '../../../apimachinery/status-error.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import type { RunEvent } from '../../../states-language/run/advance.ts';
import { type Workflow, workflowResource } from '../api/workflow.ts';
import { hasEnded, type WorkflowRun, workflowRunResource } from '../api/workflow-run.ts';
import { failed } from './call-outcome-plan.ts';
import type { Task } from './function-tasks.ts';
import {
  childRunOf,
  endOfJob,
  eventOfChild,
  isChildOf,
  isJobOf,
  jobOf,
  outputOfJob,
  type TaskOf,
  taskErrors,
  taskFinalizer,
  taskOfJob,
} from './task-objects-plan.ts';

const byParent = 'by parent run';
const byRun = 'by run';

const wholeName = 63;
const hashLength = 10;

function nameOf(run: WorkflowRun, task: Task): string {
  const hash = createHash('sha256')
    .update(`${run.metadata.uid}/${task.id}`)
    .digest('hex')
    .slice(0, hashLength);
  const stem = run.metadata.name.slice(0, wholeName - 11 - hashLength).replace(/-+$/, '');
  return `${stem}-${hash}`;
}

export class TaskObjects {
  readonly #context: ControllerContext;
  readonly #runs;
  readonly #jobs;
  readonly #workflows;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#runs = context.informers.informerFor(workflowRunResource);
    this.#runs.addIndex(byParent, ({ spec: { parent } }) => (parent ? [parent.uid] : []));
    this.#jobs = context.informers.informerFor(jobResource);
    this.#jobs.addIndex(byRun, (job) => [taskOfJob(job).uid ?? []].flat());
    this.#workflows = context.informers.informerFor(workflowResource).lister;
  }

  /** Returns the runs that are tasks of the run with this uid. */
  childrenOf(uid: string): readonly WorkflowRun[] {
    return this.#runs.lister.byIndex(byParent, uid);
  }

  /**
   * Creates the object of the task if it does not exist. Returns its outcome, or undefined while it is
   * running.
   */
  async look(run: WorkflowRun, task: Task): Promise<RunEvent | undefined> {
    const namespace = task.resource.namespace ?? run.metadata.namespace ?? '';
    const of: TaskOf = { run, task, namespace, name: nameOf(run, task) };
    return task.resource.type === 'workflow' ? this.#lookRun(of) : this.#lookJob(of);
  }

  async #lookRun(of: TaskOf): Promise<RunEvent | undefined> {
    const { id, resource } = of.task;
    const child = this.#runs.lister.get(`${of.namespace}/${of.name}`);
    if (child) return isChildOf(child, of) ? eventOfChild(id, child) : taken(of);
    if (!this.#workflows.get(`${of.namespace}/${resource.name}`)) {
      return failed(id, taskErrors.workflowNotFound, `there is no workflow ${of.namespace}/${resource.name}`);
    }
    const draft = childRunOf(of);
    if (!draft) return failed(id, taskErrors.tooDeep, 'there are 10 runs above this one already');
    return this.#create(of, workflowRunResource, draft, isChildOf);
  }

  async #lookJob(of: TaskOf): Promise<RunEvent | undefined> {
    const { client } = this.#context;
    const { id, resource } = of.task;
    const job = this.#jobs.lister.get(`${of.namespace}/${of.name}`);
    if (job) return isJobOf(job, of) ? this.#endOfJob(id, job) : taken(of);
    const cronJob = await ifPresent(client.resource(cronJobResource).get(resource.name, of.namespace));
    if (!cronJob) {
      return failed(id, taskErrors.jobNotFound, `there is no CronJob ${of.namespace}/${resource.name}`);
    }
    const draft = jobOf(of, cronJob);
    if (!draft) {
      return failed(
        id,
        'States.DataLimitExceeded',
        'the input is too large for a variable of a Job: 128 KiB',
      );
    }
    return this.#create(of, jobResource, draft, isJobOf);
  }

  /** Creates the object. An existing object was created before a restart; the cache will show it. */
  async #create<T extends KubeObject>(
    of: TaskOf,
    kind: ResourceRef<T>,
    draft: Draft<T>,
    isOwn: (object: T, of: TaskOf) => boolean,
  ): Promise<RunEvent | undefined> {
    const client = this.#context.client.resource(kind);
    try {
      await client.create(draft);
    } catch (error) {
      if (isAlreadyExists(error)) return undefined;
      if (!isRefusal(error)) throw error;
      // The quota may be used up by this very object, which the cache does not show yet.
      const there = await ifPresent(client.get(of.name, of.namespace));
      if (there && isOwn(there, of)) return undefined;
      return failed(of.task.id, taskErrors.refused, error.message);
    }
    return undefined;
  }

  async #endOfJob(id: string, job: Job): Promise<RunEvent | undefined> {
    const end = endOfJob(job);
    if (!end) return undefined;
    if (!end.succeeded) return failed(id, taskErrors.jobFailed, end.why);
    const { name, namespace = '' } = job.metadata;
    const labelSelector = `batch.kubernetes.io/job-name=${name}`;
    const pods = await this.#context.client.resource(podResource).list({ namespace, labelSelector });
    return { type: 'TaskSucceeded', id, output: outputOfJob(job, pods.items) };
  }

  /** Stops and releases all objects of the run whose tasks are not in `waited`. */
  async release(uid: string, waited: ReadonlySet<string>): Promise<void> {
    const runs = this.childrenOf(uid).filter(({ spec }) => !waited.has(spec.parent?.task ?? ''));
    for (const child of runs) {
      if (!hasEnded(child) && !child.spec.stop) await this.#stopRun(child);
      await this.#letGo(workflowRunResource, child);
    }
    const ofRun = this.#jobs.lister.byIndex(byRun, uid);
    for (const job of ofRun.filter((one) => !waited.has(taskOfJob(one).task ?? ''))) {
      if (!endOfJob(job)) await this.#stopJob(job);
      await this.#letGo(jobResource, job);
    }
  }

  async #stopJob({ metadata: { name, namespace, uid } }: Job): Promise<void> {
    const options = { preconditions: { uid }, propagationPolicy: 'Background' } as const;
    await ifPresent(this.#context.client.resource(jobResource).delete(name, namespace, options));
  }

  letGoRun(child: WorkflowRun): Promise<void> {
    return this.#letGo(workflowRunResource, child);
  }

  async #stopRun(child: WorkflowRun): Promise<void> {
    const { name, namespace = '', uid } = child.metadata;
    const body = {
      metadata: { uid },
      spec: { stop: { cause: 'its parent run has ended or was stopped' } },
    };
    await ifPresent(this.#context.client.resource(workflowRunResource).patch(name, namespace, 'merge', body));
  }

  async #letGo<T extends KubeObject>(kind: ResourceRef<T>, object: T): Promise<void> {
    const { name, namespace = '', uid, finalizers = [] } = object.metadata;
    if (!finalizers.includes(taskFinalizer)) return;
    const body = { metadata: { uid, finalizers: finalizers.filter((one) => one !== taskFinalizer) } };
    await ifPresent(this.#context.client.resource(kind).patch(name, namespace, 'merge', body));
  }

  /**
   * Returns true if the run's workflow may use the target of the task. Targets in its own namespace are
   * always allowed.
   */
  async mayUse(run: WorkflowRun, workflow: Workflow | undefined, task: Task): Promise<boolean> {
    const { namespace: home = '' } = run.metadata;
    const { namespace = home, type, name } = task.resource;
    if (namespace === home) return true;
    const account = workflow?.spec.serviceAccountName ?? 'default';
    const checks = accessOf[type].map(([verb, group, resource, subresource]) => ({
      namespace,
      verb,
      group,
      resource,
      ...(subresource && { subresource }),
      ...(resource !== 'jobs' && resource !== 'workflowruns' && { name }),
    }));
    const reviews = this.#context.client.resource(subjectAccessReviewResource);
    for (const resourceAttributes of checks) {
      const { status } = await reviews.create({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: {},
        spec: {
          user: serviceAccountUserName(home, account),
          groups: [...serviceAccountGroups(home), 'system:authenticated'],
          resourceAttributes,
        },
      });
      if (!status?.allowed) return false;
    }
    return true;
  }
}

/** Verb, group, resource and subresource that are checked for a task. */
const accessOf: Readonly<
  Record<Task['resource']['type'], readonly (readonly [string, string, string, string?])[]>
> = {
  function: [['create', 'minik8s.io', 'functions', 'invoke']],
  workflow: [['create', 'minik8s.io', 'workflowruns']],
  job: [
    ['get', 'batch', 'cronjobs'],
    ['create', 'batch', 'jobs'],
  ],
};

const taken = ({ task, namespace, name }: TaskOf): RunEvent =>
  failed(
    task.id,
    taskErrors.nameTaken,
    `${namespace}/${name} exists already, but does not belong to this task`,
  );

export const isGone = (run: WorkflowRun | undefined, uid: string): boolean =>
  run === undefined || run.metadata.uid !== uid || (isTerminating(run) && hasEnded(run));

/** Returns true if validation, a quota or authorization has rejected the object. */
const isRefusal = (error: unknown): error is StatusError =>
  error instanceof StatusError && (error.status.code === 422 || error.status.code === 403);
