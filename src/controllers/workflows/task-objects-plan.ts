/** The objects that tasks of runs are: runs of other workflows, and Jobs. What they are made of, and what has come of them. Pure. */
import type { CronJob } from '../../api/batch/v1/cron-job.ts';
import { type Job, jobResource } from '../../api/batch/v1/job.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import { chainAnnotation, chainAnnotations, chainOfObject } from '../../api/minik8s/v1/trigger-chain.ts';
import {
  deepestRun,
  hasEnded,
  type WorkflowRun,
  workflowRunResource,
} from '../../api/minik8s/v1/workflow-run.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { controllerOf, type Draft, type KubeObject, type OwnerReference } from '../../apimachinery/meta.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import type { Json } from '../../states-language/json.ts';
import type { RunEvent } from '../../states-language/run/advance.ts';
import type { Command } from '../../states-language/run/commands.ts';
import { failed } from './call-outcome-plan.ts';

type Task = Extract<Command, { type: 'startTask' }>;

/** Holds an object until what came of it is stored in the run whose task it is. */
export const taskFinalizer = 'minik8s.io/workflow-task';
/** Annotations of a Job: NAMESPACE/NAME of the run, its uid, and the id of the task. */
export const runAnnotation = 'minik8s.io/workflow-run';
const runUidAnnotation = 'minik8s.io/workflow-run-uid';
const taskAnnotation = 'minik8s.io/workflow-task';
/** The variable in which the containers of a Job find the input. */
const inputVariable = 'TASK_INPUT';
/** Bytes of one variable that Linux gives to a program, less what is around it. */
const mostInput = 128 * 1024 - 100;

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
  /** The same for the same task, and no other's. */
  readonly name: string;
  readonly namespace: string;
}

/** An owner has to be in the same namespace. */
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

/** Undefined when there are too many runs above it. */
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

/** Undefined while it goes on. */
export function eventOfChild(id: string, child: WorkflowRun): RunEvent | undefined {
  if (!hasEnded(child)) return undefined;
  const { phase, output = null, error, cause = '' } = child.status ?? {};
  if (phase === 'Succeeded') return { type: 'TaskSucceeded', id, output: output as Json };
  const otherwise = phase === 'Aborted' ? taskErrors.workflowAborted : 'States.TaskFailed';
  return failed(id, error || otherwise, cause || `the run ${child.metadata.name} ended as ${phase}`);
}

/** As `kubectl create job --from=cronjob/NAME`, with the input in a variable; undefined for an input that is too large for one. */
export function jobOf(of: TaskOf, cronJob: CronJob): Draft<Job> | undefined {
  const { run, task, name, namespace } = of;
  const value = JSON.stringify(task.input);
  if (Buffer.byteLength(value) > mostInput) return undefined;
  const { metadata, spec } = deepCopy(cronJob.spec.jobTemplate);
  // Only the cluster says what has led to a Job, and a template is whoever's.
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

/** Undefined while it goes on. A Job that somebody deletes has failed. */
export function endOfJob({ metadata, status }: Job): JobEnd | undefined {
  const held = (type: string) =>
    status?.conditions?.find((one) => one.type === type && one.status === 'True');
  if (held('Complete')) return { succeeded: true };
  const failure = held('Failed');
  if (failure) return { succeeded: false, why: `${failure.reason ?? ''}: ${failure.message ?? ''}` };
  return metadata.deletionTimestamp ? { succeeded: false, why: 'Deleted: the Job was deleted' } : undefined;
}

/** The termination message of its pod that succeeded, JSON or else a text; null without one. `pods` are all with its label, which anybody may set. */
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
