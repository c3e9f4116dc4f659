/** Runs and Jobs that are created for tasks, and their results. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CronJob } from '../../../../../src/api/batch/v1/cron-job.ts';
import type { Job } from '../../../../../src/api/batch/v1/job.ts';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { WorkflowRun } from '../../../../../src/features/workflows/api/workflow-run.ts';
import type { Task } from '../../../../../src/features/workflows/controller/function-tasks.ts';
import {
  childRunOf,
  endOfJob,
  eventOfChild,
  isJobOf,
  jobOf,
  outputOfJob,
  type TaskOf,
  taskOfJob,
} from '../../../../../src/features/workflows/controller/task-objects-plan.ts';
import { meta } from '../../../controllers/objects.ts';

const task: Task = {
  ...{ type: 'startTask', id: '0-0', state: 'A', input: { a: 1 } },
  resource: { type: 'workflow', name: 'other' },
};
const run = {
  ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun' },
  metadata: meta('r', { annotations: { 'minik8s.io/trigger-chain': 'default/t' } }),
  spec: { workflow: 'w' },
} as unknown as WorkflowRun;
const of = (namespace = 'default'): TaskOf => ({ run, task, name: 'made', namespace });
const owner = {
  ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', name: 'r', uid: 'uid-r' },
  ...{ controller: true, blockOwnerDeletion: false },
};

describe('the run of a task', () => {
  it('has a finalizer, the parent run as its owner, and the name of its task', () => {
    assert.deepEqual(childRunOf(of()), {
      ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun' },
      metadata: {
        ...{ name: 'made', namespace: 'default', finalizers: ['minik8s.io/workflow-task'] },
        ...{ annotations: { 'minik8s.io/trigger-chain': 'default/t' }, ownerReferences: [owner] },
      },
      spec: {
        ...{ workflow: 'other', input: { a: 1 } },
        parent: { namespace: 'default', name: 'r', uid: 'uid-r', task: '0-0', depth: 1 },
      },
    });
  });
  it('in another namespace has no owner, since an owner is in the same namespace', () => {
    assert.deepEqual(childRunOf(of('elsewhere'))?.metadata.ownerReferences, []);
  });

  const child = (status: object) => ({ ...run, status }) as unknown as WorkflowRun;
  const failed = (error: string, cause: string) => ({ type: 'TaskFailed', id: '0-0', error, cause });
  for (const [what, status, event] of [
    ['has not begun', {}, undefined],
    ['waits', { phase: 'Pending' }, undefined],
    ['goes on', { phase: 'Running' }, undefined],
    ['has succeeded', { phase: 'Succeeded', output: [1] }, { type: 'TaskSucceeded', id: '0-0', output: [1] }],
    ['gave nothing', { phase: 'Succeeded' }, { type: 'TaskSucceeded', id: '0-0', output: null }],
    ['has failed', { phase: 'Failed', error: 'E', cause: 'why' }, failed('E', 'why')],
    [
      'has failed without a message',
      { phase: 'Failed' },
      failed('States.TaskFailed', 'the run r ended as Failed'),
    ],
    [
      'was stopped without a message',
      { phase: 'Aborted', error: '', cause: '' },
      failed('Workflow.Aborted', 'the run r ended as Aborted'),
    ],
    ['was stopped', { phase: 'Aborted', error: 'Mine', cause: 'so' }, failed('Mine', 'so')],
  ] as const)
    it(`that ${what} results in ${event?.type ?? 'no event yet'}`, () =>
      assert.deepEqual(eventOfChild('0-0', child(status)), event));
});

describe('the Job of a task', () => {
  const cronJob = (labels?: Record<string, string>) =>
    ({
      kind: 'CronJob',
      metadata: meta('c'),
      spec: {
        jobTemplate: {
          metadata: { annotations: { own: '1' }, ...(labels && { labels }) },
          spec: { backoffLimit: 2, template: { spec: { containers: [{ name: 'main' }] } } },
        },
      },
    }) as unknown as CronJob;

  it('is the template of the CronJob with owner, finalizer and annotations of the task', () => {
    const template = cronJob({ app: 'x' });
    const made = jobOf(of(), template);
    assert.deepEqual(made, {
      ...{ apiVersion: 'batch/v1', kind: 'Job' },
      metadata: {
        ...{ name: 'made', namespace: 'default', labels: { app: 'x' } },
        annotations: {
          ...{ own: '1', 'cronjob.kubernetes.io/instantiate': 'manual' },
          'minik8s.io/workflow-run': 'default/r',
          'minik8s.io/workflow-run-uid': 'uid-r',
          'minik8s.io/workflow-task': '0-0',
          'minik8s.io/trigger-chain': 'default/t',
        },
        ...{ finalizers: ['minik8s.io/workflow-task'], ownerReferences: [owner] },
      },
      spec: {
        backoffLimit: 2,
        template: {
          spec: { containers: [{ name: 'main', env: [{ name: 'TASK_INPUT', value: '{"a":1}' }] }] },
        },
      },
    });
    assert.deepEqual(template, cronJob({ app: 'x' }), 'the CronJob of the cache is as it was');
    assert.deepEqual(jobOf(of('elsewhere'), template)?.metadata.ownerReferences, []);
  });
  it('has no labels if the template has none, and is created if it has no metadata at all', () => {
    assert.equal('labels' in (jobOf(of(), cronJob())?.metadata ?? {}), false);
    const { spec } = cronJob().spec.jobTemplate;
    const bare = { ...cronJob(), spec: { jobTemplate: { spec } } } as unknown as CronJob;
    assert.equal(jobOf(of(), bare)?.metadata.name, 'made');
    const empty = { ...bare, spec: { jobTemplate: { spec: { template: {} } } } } as unknown as CronJob;
    assert.equal(jobOf(of(), empty)?.metadata.name, 'made');
  });
  it('belongs to the task of its annotations and to no other', () => {
    const job = jobOf(of(), cronJob()) as unknown as Job;
    assert.deepEqual(taskOfJob(job), { run: 'default/r', uid: 'uid-r', task: '0-0' });
    assert.equal(isJobOf(job, of()), true);
    assert.equal(isJobOf(job, { ...of(), task: { ...task, id: '1-0' } }), false);
    const other = { ...run, metadata: meta('r', { uid: 'another' }) } as WorkflowRun;
    assert.equal(isJobOf(job, { ...of(), run: other }), false);
  });

  const condition = (type: string, status = 'True', more: object = {}) => ({ type, status, ...more });
  for (const [what, job, end] of [
    ['has no status', {}, undefined],
    ['goes on', { status: { conditions: [condition('Suspended')] } }, undefined],
    ['is not complete', { status: { conditions: [condition('Complete', 'False')] } }, undefined],
    ['has not failed', { status: { conditions: [condition('Failed', 'False')] } }, undefined],
    ['is complete', { status: { conditions: [condition('Complete')] } }, { succeeded: true }],
    [
      'has failed',
      { status: { conditions: [condition('Failed', 'True', { reason: 'Late', message: 'too slow' })] } },
      { succeeded: false, why: 'Late: too slow' },
    ],
    [
      'has failed without a message',
      { status: { conditions: [condition('Failed')] } },
      { succeeded: false, why: ': ' },
    ],
    [
      'is being deleted',
      { metadata: { deletionTimestamp: 'T' } },
      { succeeded: false, why: 'Deleted: the Job was deleted' },
    ],
    [
      'is complete and being deleted',
      { metadata: { deletionTimestamp: 'T' }, status: { conditions: [condition('Complete')] } },
      { succeeded: true },
    ],
  ] as const)
    it(`that ${what} ${end === undefined ? 'has no end' : end.succeeded ? 'succeeded' : 'failed'}`, () =>
      assert.deepEqual(endOfJob({ metadata: {}, ...job } as unknown as Job), end));

  describe('the output of a Job is', () => {
    const job = { metadata: meta('j') } as unknown as Job;
    const pod = (phase: string, messages: readonly (string | undefined)[], uid = 'uid-j') =>
      ({
        metadata: { ...meta('p'), ownerReferences: [{ uid, controller: true }] },
        status: {
          phase,
          containerStatuses: messages.map((message) => ({
            state: message === undefined ? {} : { terminated: { message } },
          })),
        },
      }) as unknown as Pod;
    for (const [what, pods, output] of [
      ['nothing without a pod', [], null],
      ['nothing without a message', [pod('Succeeded', ['', undefined])], null],
      ['the JSON of the first message', [pod('Succeeded', ['', '{"a":1}', '2'])], { a: 1 }],
      ['a text that is not JSON', [pod('Succeeded', ['done'])], 'done'],
      ['nothing from a failed pod', [pod('Failed', ['1']), pod('Succeeded', ['2'])], 2],
      ['nothing from a pod of another Job', [pod('Succeeded', ['1'], 'uid-x')], null],
      [
        'nothing from a pod without a status',
        [
          {
            metadata: { ...meta('p'), ownerReferences: [{ uid: 'uid-j', controller: true }] },
          } as unknown as Pod,
        ],
        null,
      ],
    ] as const)
      it(what, () => assert.deepEqual(outputOfJob(job, pods), output));
  });
});
