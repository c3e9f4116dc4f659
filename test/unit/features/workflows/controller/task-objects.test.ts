/**
 * Objects of tasks: their names, the causes of their failures, and the times at which they are stopped and
 * released.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { subjectAccessReviewResource } from '../../../../../src/api/authorization/v1/subject-access-review.ts';
import { type CronJob, cronJobResource } from '../../../../../src/api/batch/v1/cron-job.ts';
import { type Job, jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { newForbidden, newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { ControllerContext } from '../../../../../src/controller-runtime/definition.ts';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import {
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import type { Task } from '../../../../../src/features/workflows/controller/function-tasks.ts';
import { isGone, TaskObjects } from '../../../../../src/features/workflows/controller/task-objects.ts';
import { meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const finalizer = 'minik8s.io/workflow-task';
const task = (type: 'job' | 'workflow', namespace?: string, input: unknown = { a: 1 }) =>
  ({
    ...{ type: 'startTask', id: '0-0', state: 'A', input },
    resource: { type, name: type === 'job' ? 'c' : 'w', ...(namespace !== undefined && { namespace }) },
  }) as Task;
const runOf = (over: object = {}, spec: object = {}): WorkflowRun =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata: meta('r', over) },
    spec: { workflow: 'w', ...spec },
  }) as unknown as WorkflowRun;

function world() {
  const captured: { context?: ControllerContext } = {};
  const server = new ScriptedWorld((context) => {
    captured.context = context;
    return { name: 'none', watches: [], reconcile: async () => undefined };
  });
  const template = { spec: { template: { spec: { containers: [{ name: 'main' }] } } } };
  for (const namespace of ['default', 'other']) {
    server.put(workflowResource, {
      kind: 'Workflow',
      metadata: meta('w', { namespace }),
      spec: {},
    } as unknown as Workflow);
    server.put(cronJobResource, {
      ...{ kind: 'CronJob', metadata: meta('c', { namespace }) },
      spec: { jobTemplate: template },
    } as unknown as CronJob);
  }
  const tasks = new TaskObjects(captured.context ?? assert.fail());
  const jobs = () => server.all<Job>(jobResource);
  const runs = () => server.all<WorkflowRun>(workflowRunResource);
  return { server, tasks, jobs, runs };
}

const failed = (error: string, cause: string) => ({ type: 'TaskFailed', id: '0-0', error, cause });

describe('the object of a task', () => {
  it('is named by its run and a hash, with at most 52 characters and without a dash at the end of the run’s part', async () => {
    const nameOf = async (run: WorkflowRun, one: Task = task('job')) => {
      const { tasks, jobs } = world();
      await tasks.look(run, one);
      return jobs()[0]?.metadata.name ?? assert.fail();
    };
    const first = await nameOf(runOf());
    assert.match(first, /^r-[0-9a-f]{10}$/);
    assert.equal(await nameOf(runOf()), first);
    assert.notEqual(await nameOf(runOf({ uid: 'another' })), first);
    assert.notEqual(await nameOf(runOf(), { ...task('job'), id: '1-0' }), first);
    const long = await nameOf(runOf({ name: 'a'.repeat(63) }));
    assert.match(long, /^a{42}-[0-9a-f]{10}$/);
    const dashes = await nameOf(runOf({ name: `${'a'.repeat(40)}--${'b'.repeat(20)}` }));
    assert.match(dashes, /^a{40}-[0-9a-f]{10}$/);
  });
  it('is created in the namespace of the task, or else of the run', async () => {
    for (const [namespace, wanted] of [
      [undefined, 'default'],
      ['other', 'other'],
    ] as const) {
      const { tasks, jobs, runs } = world();
      await tasks.look(runOf(), task('job', namespace));
      await tasks.look(runOf(), task('workflow', namespace));
      assert.deepEqual(
        [...jobs(), ...runs()].map(({ metadata }) => metadata.namespace),
        [wanted, wanted],
      );
    }
  });
  it('is an error if there is no such workflow or CronJob in that namespace', async () => {
    const { tasks, jobs, runs } = world();
    assert.deepEqual(
      await tasks.look(runOf(), task('workflow', 'third')),
      failed('Workflow.NotFound', 'there is no workflow third/w'),
    );
    assert.deepEqual(
      await tasks.look(runOf(), task('job', 'third')),
      failed('Job.NotFound', 'there is no CronJob third/c'),
    );
    assert.deepEqual([...jobs(), ...runs()], []);
  });
  it('is an error for an eleventh nested run, and for an input that does not fit into a variable', async () => {
    const { tasks, jobs, runs } = world();
    assert.deepEqual(
      await tasks.look(runOf({}, { parent: { depth: 10 } }), task('workflow')),
      failed('Workflow.TooDeep', 'there are 10 runs above this one already'),
    );
    assert.deepEqual(
      await tasks.look(runOf(), task('job', undefined, 'x'.repeat(200_000))),
      failed('States.DataLimitExceeded', 'the input is too large for a variable of a Job: 128 KiB'),
    );
    assert.deepEqual([...jobs(), ...runs()], []);
  });
  it('fails with the message of the API if that refuses it, and is retried if the API is unreachable', async () => {
    for (const [fault, error] of [
      [newForbidden(jobResource, 'x', 'exceeded quota'), 'Task.Refused'],
      [newStatusError('Invalid', 'not so'), 'Task.Refused'],
      [newStatusError('InternalError', 'away'), undefined],
      [newStatusError('TooManyRequests', 'later'), undefined],
      [new Error('connection reset'), undefined],
    ] as const) {
      const { server, tasks } = world();
      server.refuse = (verb) => (verb === 'create' ? fault : undefined);
      if (error === undefined) await assert.rejects(tasks.look(runOf(), task('job')), fault);
      else assert.deepEqual(await tasks.look(runOf(), task('job')), failed(error, fault.message));
    }
  });
  it('does not count as created if it cannot be read', async () => {
    const { server, tasks } = world();
    const away = newStatusError('InternalError', 'away');
    const full = newForbidden(jobResource, 'x', 'exceeded quota');
    server.refuse = (verb, name) =>
      verb === 'create' ? full : verb === 'get' && name !== 'c' ? away : undefined;
    await assert.rejects(tasks.look(runOf(), task('job')), away);
  });
  it('is rejected if another object has its name, which the error contains', async () => {
    const { server, tasks, jobs } = world();
    await tasks.look(runOf(), task('job'));
    const [made] = jobs();
    const name = made?.metadata.name ?? '';
    server.put(jobResource, { ...made, metadata: meta(name) } as Job);
    const cause = `default/${name} exists already, but does not belong to this task`;
    assert.deepEqual(await tasks.look(runOf(), task('job')), failed('Task.NameTaken', cause));
  });
});

describe('a Job that is a task', () => {
  async function ended(conditions: readonly object[]) {
    const made = world();
    await made.tasks.look(runOf(), task('job'));
    const [job] = made.jobs();
    made.server.put(jobResource, { ...job, status: { conditions } } as Job);
    return { ...made, name: job?.metadata.name ?? '', uid: job?.metadata.uid ?? '' };
  }
  it('fails with the reason of its condition', async () => {
    const condition = {
      type: 'Failed',
      status: 'True',
      reason: 'BackoffLimitExceeded',
      message: 'too often',
    };
    const { tasks } = await ended([condition]);
    const event = failed('Job.Failed', 'BackoffLimitExceeded: too often');
    assert.deepEqual(await tasks.look(runOf(), task('job')), event);
  });
  it('continues without a condition', async () => {
    const { tasks } = await ended([]);
    assert.equal(await tasks.look(runOf(), task('job')), undefined);
  });
  it('has the output of its pod, which is read in its namespace alone', async () => {
    const { server, tasks, name, uid } = await ended([{ type: 'Complete', status: 'True' }]);
    const pod = (namespace: string, message: string) =>
      ({
        metadata: meta('p', {
          namespace,
          labels: { 'batch.kubernetes.io/job-name': name },
          ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true }],
        }),
        spec: { containers: [] },
        status: { phase: 'Succeeded', containerStatuses: [{ state: { terminated: { message } } }] },
      }) as unknown as Pod;
    server.put(podResource, pod('another', '"no"'));
    server.put(podResource, pod('default', '[1]'));
    assert.deepEqual(await tasks.look(runOf(), task('job')), {
      type: 'TaskSucceeded',
      id: '0-0',
      output: [1],
    });
  });
  it('is deleted in the background when no task waits for it, unless it has ended', async () => {
    for (const isOver of [false, true]) {
      const { server, tasks, name } = await ended(isOver ? [{ type: 'Complete', status: 'True' }] : []);
      server.asked.length = 0;
      await tasks.release('uid-r', new Set());
      const asked = server.asked.map((one) => one.split(' ')[0]);
      assert.deepEqual(asked, isOver ? ['patch'] : ['delete', 'patch']);
      const left = server.stored(jobResource, `default/${name}`);
      assert.deepEqual(left?.metadata.finalizers, isOver ? [] : undefined);
    }
  });
  it('is neither deleted nor released if it belongs to another run', async () => {
    const { server, tasks } = await ended([]);
    server.asked.length = 0;
    await tasks.release('uid-another', new Set());
    assert.deepEqual(server.asked, []);
  });
  it('causes no error if it is deleted or was released by another client', async () => {
    const { server, tasks, jobs } = await ended([]);
    const [job] = jobs();
    const key = `default/${job?.metadata.name}`;
    server.seen.put(jobResource, { ...job, metadata: { ...job?.metadata, finalizers: ['x'] } } as Job);
    server.take(jobResource, key);
    await tasks.release('uid-r', new Set());
    server.seen.put(jobResource, job as Job);
    await tasks.release('uid-r', new Set());
    server.seen.put(jobResource, {
      ...job,
      metadata: { ...job?.metadata, finalizers: undefined },
    } as Job);
    server.asked.length = 0;
    await tasks.release('uid-r', new Set());
    assert.deepEqual(
      server.asked.map((one) => one.split(' ')[0]),
      ['delete'],
    );
  });
});

describe('a run that is a task', () => {
  const parent = { namespace: 'default', name: 'r', uid: 'uid-r', task: '0-0', depth: 1 };
  const child = (over: object = {}, spec: object = {}, status?: object) =>
    ({
      ...runOf({ ...meta('child'), finalizers: ['x', finalizer], ...over }, { parent, ...spec }),
      ...(status && { status }),
    }) as WorkflowRun;
  const stored = (server: ScriptedWorld) =>
    server.stored<WorkflowRun>(workflowRunResource, 'default/child') ?? assert.fail();

  it('is stopped and released, and other finalizers are kept', async () => {
    const { server, tasks } = world();
    server.put(workflowRunResource, child());
    assert.deepEqual(
      tasks.childrenOf('uid-r').map(({ metadata }) => metadata.name),
      ['child'],
    );
    assert.deepEqual(tasks.childrenOf('uid-child'), []);
    await tasks.release('uid-r', new Set(['1-0']));
    const { spec, metadata } = stored(server);
    assert.deepEqual(spec.stop, { cause: 'its parent run has ended or was stopped' });
    assert.deepEqual(metadata.finalizers, ['x']);
  });
  it('is not stopped if it has ended or was stopped by another client', async () => {
    const stop = { cause: 'mine' };
    for (const [one, wanted] of [
      [child({}, {}, { phase: 'Succeeded' }), undefined],
      [child({}, { stop }), stop],
    ] as const) {
      const { server, tasks } = world();
      server.put(workflowRunResource, one);
      await tasks.release('uid-r', new Set());
      assert.deepEqual([stored(server).spec.stop, stored(server).metadata.finalizers], [wanted, ['x']]);
    }
  });
  it('is not stopped or released if it was replaced by another object with its name', async () => {
    for (const status of [{ phase: 'Running' }, { phase: 'Failed' }]) {
      const { server, tasks } = world();
      server.put(workflowRunResource, child({}, {}, status));
      server.store(workflowRunResource, child({ uid: 'made-again' }));
      await assert.rejects(tasks.release('uid-r', new Set()), { name: 'StatusError' });
      assert.deepEqual(
        [stored(server).spec.stop, stored(server).metadata.finalizers],
        [undefined, ['x', finalizer]],
      );
    }
  });
  it('causes no error if it is deleted', async () => {
    const { server, tasks } = world();
    server.seen.put(workflowRunResource, child());
    await tasks.release('uid-r', new Set());
    await tasks.letGoRun(child());
    assert.deepEqual(server.all(workflowRunResource), []);
  });
  it('is released once', async () => {
    const { server, tasks } = world();
    const bare = child({ finalizers: ['x'] }, {}, { phase: 'Failed' });
    server.put(workflowRunResource, bare);
    await tasks.release('uid-r', new Set());
    await tasks.letGoRun(child({ finalizers: undefined }));
    assert.deepEqual(server.asked, []);
  });
});

describe('the right to a task in another namespace', () => {
  const workflowOf = (serviceAccountName?: string) =>
    ({ metadata: meta('w'), spec: { serviceAccountName } }) as unknown as Workflow;
  it('is checked for the account of the workflow (by default `default`), with its groups', async () => {
    for (const [workflow, account] of [
      [workflowOf('robot'), 'robot'],
      [workflowOf(), 'default'],
      [undefined, 'default'],
    ] as const) {
      const { server, tasks } = world();
      assert.equal(await tasks.mayUse(runOf(), workflow, task('job', 'other')), false);
      const [review, ...more] = server.all(subjectAccessReviewResource);
      assert.deepEqual(more, [], 'the first refusal is enough');
      const { apiVersion, kind, spec } = review ?? assert.fail();
      assert.deepEqual([apiVersion, kind], ['authorization.k8s.io/v1', 'SubjectAccessReview']);
      assert.deepEqual(spec, {
        user: `system:serviceaccount:default:${account}`,
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
        resourceAttributes: {
          namespace: 'other',
          verb: 'get',
          group: 'batch',
          resource: 'cronjobs',
          name: 'c',
        },
      });
    }
  });
  it('is not needed in the namespace of the run, named or by default', async () => {
    for (const type of ['job', 'workflow'] as const)
      for (const namespace of [undefined, 'default']) {
        const { server, tasks } = world();
        assert.equal(await tasks.mayUse(runOf(), workflowOf(), task(type, namespace)), true);
        assert.deepEqual(server.asked, []);
      }
  });
  it('is missing while it cannot be checked', async () => {
    const { server, tasks } = world();
    const away = newStatusError('InternalError', 'away');
    server.refuse = () => away;
    await assert.rejects(tasks.mayUse(runOf(), workflowOf(), task('job', 'other')), away);
  });
});

describe('the parent run', () => {
  for (const [what, run, gone] of [
    ['does not exist', undefined, true],
    ['was created again', runOf({ uid: 'another' }), true],
    ['is there', runOf(), false],
    ['has ended', { ...runOf(), status: { phase: 'Failed' } }, false],
    ['is being deleted and continues', runOf({ deletionTimestamp: 'T' }), false],
    [
      'is being deleted and has ended',
      { ...runOf({ deletionTimestamp: 'T' }), status: { phase: 'Aborted' } },
      true,
    ],
  ] as const)
    it(`that ${what} is ${gone ? 'deleted' : 'not deleted'}`, () =>
      assert.equal(isGone(run as WorkflowRun | undefined, 'uid-r'), gone));
});
