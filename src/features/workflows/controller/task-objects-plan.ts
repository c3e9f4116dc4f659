/** Objects of tasks: runs of other workflows, and Jobs. Builds them and evaluates their outcome. Pure. */
import type { CronJob } from '../../../api/batch/v1/cron-job.ts';
import { type Job, jobResource } from '../../../api/batch/v1/job.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import {
  controllerOf,
  type Draft,
  type KubeObject,
  type OwnerReference,
} from '../../../apimachinery/meta.ts';
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import type { Json } from '../../../states-language/json.ts';
import type { RunEvent } from '../../../states-language/run/advance.ts';
import type { Command } from '../../../states-language/run/commands.ts';
import { chainAnnotation, chainAnnotations, chainOfObject } from '../../triggers/api/trigger-chain.ts';
import { deepestRun, hasEnded, type WorkflowRun, workflowRunResource } from '../api/workflow-run.ts';
import { failed } from './call-outcome-plan.ts';

type Task = Extract<Command, { type: 'startTask' }>;

/** Finalizer that keeps an object until its outcome is stored in the run whose task it is. */
export const taskFinalizer = 'minik8s.io/workflow-task';
/** Annotations of a Job: NAMESPACE/NAME of the run, its uid, and the id of the task. */
export const runAnnotation = 'minik8s.io/workflow-run';
const runUidAnnotation = 'minik8s.io/workflow-run-uid';
const taskAnnotation = 'minik8s.io/workflow-task';
/** Environment variable that passes the input to the containers of a Job. */
const inputVariable = 'TASK_INPUT';
/** Maximum bytes of the input: the limit of Linux for one variable, with a reserve for its name. */
const maxInput = 128 * 1024 - 100;

export const taskErrors = {
  jobFailed: 'Job.Failed',
  jobNotFound: 'Job.NotFound',
  workflowAborted: 'Workflow.Aborted',
  workflowNotFound: 'Workflow.NotFound',
  tooDeep: 'Workflow.TooDeep',
  nameTaken: 'Task.NameTaken',
  refused: 'Task.Refused',
} as const;

export interface TaskOf {
  readonly run: WorkflowRun;
  readonly task: Task;
  /** Name that is unique to the task and always the same for it. */
  readonly name: string;
  readonly namespace: string;
}

/** Returns the owner references of the object: the run, unless it is in another namespace. */
function ownersOf({ run, namespace }: TaskOf): OwnerReference[] {
  const { name, uid, namespace: home } = run.metadata;
  if (namespace !== home) return [];
  const { kind } = workflowRunResource;
  return [
    {
      apiVersion: apiVersionOf(workflowRunResource),
      kind,
      name,
      uid,
      controller: true,
      blockOwnerDeletion: false,
    },
  ];
}

/** Returns the child run, or undefined if it would be nested too deeply. */
export function childRunOf(of: TaskOf): Draft<WorkflowRun> | undefined {
  const { run, task, name, namespace } = of;
  const depth = (run.spec.parent?.depth ?? 0) + 1;
  if (depth > deepestRun) return undefined;
  const { namespace: home = '', name: parent, uid } = run.metadata;
  return {
    apiVersion: 'minik8s.io/v1',
    kind: 'WorkflowRun',
    metadata: {
      name,
      namespace,
      annotations: chainAnnotations(chainOfObject(run.metadata)),
      finalizers: [taskFinalizer],
      ownerReferences: ownersOf(of),
    },
    spec: {
      workflow: task.resource.name,
      input: task.input,
      parent: { namespace: home, name: parent, uid, task: task.id, depth },
    },
  };
}

export const isChildOf = ({ spec: { parent } }: WorkflowRun, { run, task }: TaskOf): boolean =>
  parent?.uid === run.metadata.uid && parent.task === task.id;

/** Returns the outcome of the child, or undefined while it is running. */
export function eventOfChild(id: string, child: WorkflowRun): RunEvent | undefined {
  if (!hasEnded(child)) return undefined;
  const { phase, output = null, error, cause = '' } = child.status ?? {};
  if (phase === 'Succeeded') return { type: 'TaskSucceeded', id, output: output as Json };
  const otherwise = phase === 'Aborted' ? taskErrors.workflowAborted : 'States.TaskFailed';
  return failed(id, error || otherwise, cause || `the run ${child.metadata.name} ended as ${phase}`);
}

/**
 * Returns the Job that `kubectl create job --from=cronjob/NAME` would create, with the input in a variable.
 * Returns undefined if the input is too large for a variable.
 */
export function jobOf(of: TaskOf, cronJob: CronJob): Draft<Job> | undefined {
  const { run, task, name, namespace } = of;
  const value = JSON.stringify(task.input);
  if (Buffer.byteLength(value) > maxInput) return undefined;
  const { metadata, spec } = deepCopy(cronJob.spec.jobTemplate);
  // The annotation may only be set by the cluster, while a template may come from any user.
  const { [chainAnnotation]: _, ...annotations } = metadata?.annotations ?? {};
  for (const container of spec.template.spec?.containers ?? []) {
    const others = (container.env ?? []).filter((one) => one.name !== inputVariable);
    container.env = [...others, { name: inputVariable, value }];
  }
  return {
    apiVersion: apiVersionOf(jobResource),
    kind: 'Job',
    metadata: {
      name,
      namespace,
      ...(metadata?.labels && { labels: metadata.labels }),
      annotations: {
        ...annotations,
        'cronjob.kubernetes.io/instantiate': 'manual',
        [runAnnotation]: `${run.metadata.namespace}/${run.metadata.name}`,
        [runUidAnnotation]: run.metadata.uid,
        [taskAnnotation]: task.id,
        ...chainAnnotations(chainOfObject(run.metadata)),
      },
      finalizers: [taskFinalizer],
      ownerReferences: ownersOf(of),
    },
    spec,
  };
}

export const taskOfJob = ({ metadata: { annotations = {} } }: KubeObject) => ({
  run: annotations[runAnnotation],
  uid: annotations[runUidAnnotation],
  task: annotations[taskAnnotation],
});

export const isJobOf = (job: Job, { run, task }: TaskOf): boolean => {
  const of = taskOfJob(job);
  return of.uid === run.metadata.uid && of.task === task.id;
};

export type JobEnd = { readonly succeeded: true } | { readonly succeeded: false; readonly why: string };

/** Returns the end of the Job, or undefined while it is running. A deleted Job has failed. */
export function endOfJob({ metadata, status }: Job): JobEnd | undefined {
  const held = (type: string) =>
    status?.conditions?.find((one) => one.type === type && one.status === 'True');
  if (held('Complete')) return { succeeded: true };
  const failure = held('Failed');
  if (failure) return { succeeded: false, why: `${failure.reason ?? ''}: ${failure.message ?? ''}` };
  return metadata.deletionTimestamp ? { succeeded: false, why: 'Deleted: the Job was deleted' } : undefined;
}

/**
 * Returns the termination message of the Job's successful pod, as JSON or as text; null if there is none.
 * `pods` are all pods with the Job's label, which any user may set.
 */
export function outputOfJob({ metadata: { uid } }: Job, pods: readonly Pod[]): Json {
  const statuses = pods
    .filter((pod) => controllerOf(pod)?.uid === uid && pod.status?.phase === 'Succeeded')
    .flatMap(({ status }) => status?.containerStatuses ?? []);
  const message = statuses.map(({ state }) => state?.terminated?.message ?? '').find((text) => text !== '');
  if (message === undefined) return null;
  try {
    return JSON.parse(message) as Json;
  } catch {
    return message;
  }
}
