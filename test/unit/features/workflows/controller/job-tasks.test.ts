/** Jobs of tasks: fields that other clients may write, and fields that the controller uses. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CronJob, cronJobResource } from '../../../../../src/api/batch/v1/cron-job.ts';
import { type Job, jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { ControllerContext } from '../../../../../src/controller-runtime/definition.ts';
import { chainAnnotation } from '../../../../../src/features/triggers/api/trigger-chain.ts';
import {
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import type { Task } from '../../../../../src/features/workflows/controller/function-tasks.ts';
import { TaskObjects } from '../../../../../src/features/workflows/controller/task-objects.ts';
import {
  childRunOf,
  isChildOf,
  jobOf,
  runAnnotation,
  taskFinalizer,
} from '../../../../../src/features/workflows/controller/task-objects-plan.ts';
import { meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const task: Task = {
  ...{ type: 'startTask', id: '0-0', state: 'A', input: { a: 1 } },
  resource: { type: 'job', name: 'c' },
};
const runOf = (annotations: Record<string, string> = {}) =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata: { ...meta('r'), annotations } },
    spec: { workflow: 'w' },
  }) as unknown as WorkflowRun;
const cronJobOf = (annotations: Record<string, string> = {}, containers: object[] = [{ name: 'main' }]) =>
  ({
    kind: 'CronJob',
    metadata: meta('c'),
    spec: { jobTemplate: { metadata: { annotations }, spec: { template: { spec: { containers } } } } },
  }) as unknown as CronJob;

describe('the Job of a task', () => {
  const made = (run: WorkflowRun, cronJob: CronJob) =>
    jobOf({ run, task, name: 'j', namespace: 'default' }, cronJob)?.metadata.annotations ?? {};

  it('has the chain of its run, never a chain from the template', () => {
    const forged = cronJobOf({ [chainAnnotation]: 'default/watcher', [runAnnotation]: 'x/y', own: '1' });
    assert.equal(made(runOf(), forged)[chainAnnotation], undefined);
    assert.equal(made(runOf({ [chainAnnotation]: 'default/t' }), forged)[chainAnnotation], 'default/t');
    assert.deepEqual([made(runOf(), forged)[runAnnotation], made(runOf(), forged).own], ['default/r', '1']);
  });
  it('has the input in a variable of each container, which replaces the template’s variable of that name', () => {
    const env = [
      { name: 'TASK_INPUT', value: 'old' },
      { name: 'A', value: 'b' },
    ];
    const job = jobOf({ run: runOf(), task, name: 'j', namespace: 'default' }, cronJobOf({}, [{ env }, {}]));
    const own = job?.spec.template.spec?.containers.map((one) => one.env);
    const input = { name: 'TASK_INPUT', value: '{"a":1}' };
    assert.deepEqual(own, [[{ name: 'A', value: 'b' }, input], [input]]);
  });
  it('is not created if the input does not fit into a variable', () => {
    const of = (length: number) =>
      jobOf(
        { run: runOf(), task: { ...task, input: 'x'.repeat(length) }, name: 'j', namespace: 'default' },
        cronJobOf(),
      );
    assert.ok(of(128 * 1024 - 102) && !of(128 * 1024 - 101));
  });
});

describe('the output of a Job', () => {
  it('is that of its own pod, even if other pods have its label', async () => {
    const { server, tasks } = world();
    const run = runOf();
    const name = await nameOf(server, tasks, run);
    const uid = server.stored(jobResource, `default/${name}`)?.metadata.uid ?? assert.fail();
    const pod = (own: string, owner: string, message: string) =>
      server.put(podResource, {
        metadata: {
          ...meta(own),
          labels: { 'batch.kubernetes.io/job-name': name },
          ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid: owner, controller: true }],
        },
        spec: { containers: [] },
        status: { phase: 'Succeeded', containerStatuses: [{ state: { terminated: { message } } }] },
      } as unknown as Pod);
    pod('a-stranger', 'another', '"forged"');
    pod('own', uid, '"real"');
    const job = server.stored(jobResource, `default/${name}`) as Job;
    server.put(jobResource, {
      ...job,
      status: { conditions: [{ type: 'Complete', status: 'True' }] },
    } as Job);
    server.sync(jobResource);
    assert.deepEqual(await tasks.look(run, task), { type: 'TaskSucceeded', id: '0-0', output: 'real' });
  });
});

describe('the objects of a run', () => {
  it('are released when nothing waits for their tasks, and not before', async () => {
    const { server, tasks } = world();
    const run = runOf();
    const name = await nameOf(server, tasks, run);
    server.sync(jobResource);
    await tasks.release(run.metadata.uid, new Set(['0-0']));
    assert.ok(server.stored(jobResource, `default/${name}`)?.metadata.finalizers?.includes(taskFinalizer));
    assert.equal(server.stored(jobResource, `default/${name}`)?.metadata.deletionTimestamp, undefined);
    await tasks.release(run.metadata.uid, new Set(['1-0']));
    assert.equal(server.stored(jobResource, `default/${name}`), undefined);
  });
  for (const [phase, status] of [
    ['runs', {}],
    ['has ended', { conditions: [{ type: 'Complete', status: 'True' }] }],
  ] as const)
    it(`do not include a Job with the name of a previous Job that ${phase}`, async () => {
      const { server, tasks } = world();
      const run = runOf();
      const name = await nameOf(server, tasks, run);
      const first = server.stored<Job>(jobResource, `default/${name}`) ?? assert.fail();
      server.put(jobResource, { ...first, status } as Job);
      // The cache shows the first Job, but the write is for the second one.
      server.store(jobResource, { ...first, metadata: { ...first.metadata, uid: 'made-again' } });
      await assert.rejects(tasks.release(run.metadata.uid, new Set()), { name: 'StatusError' });
      const { uid, deletionTimestamp, finalizers } =
        server.stored(jobResource, `default/${name}`)?.metadata ?? {};
      assert.deepEqual([uid, deletionTimestamp, finalizers], ['made-again', undefined, [taskFinalizer]]);
    });
  it('continue while the run waits for their task, if they are runs, and are stopped afterwards', async () => {
    const { server, tasks } = world();
    const run = runOf();
    const of = { run, task, name: 'c', namespace: 'default' };
    const child = {
      ...(childRunOf(of) as WorkflowRun),
      metadata: { ...childRunOf(of)?.metadata, ...meta('c') },
    };
    server.put(workflowRunResource, {
      ...child,
      metadata: { ...child.metadata, finalizers: [taskFinalizer] },
    });
    const look = () => server.stored(workflowRunResource, 'default/c');
    await tasks.release(run.metadata.uid, new Set(['0-0']));
    assert.deepEqual([look()?.spec.stop, look()?.metadata.finalizers], [undefined, [taskFinalizer]]);
    await tasks.release(run.metadata.uid, new Set());
    assert.match(look()?.spec.stop?.cause ?? '', /has ended or was stopped/);
    assert.deepEqual(look()?.metadata.finalizers, []);
  });
});

describe('a run that is a task', () => {
  const child = (depth: number | undefined) => {
    const run = { ...runOf(), spec: { workflow: 'w', ...(depth && { parent: { depth } }) } } as WorkflowRun;
    return childRunOf({ run, task, name: 'c', namespace: 'default' });
  };
  it('has at most ten runs above it', () => {
    assert.equal(child(undefined)?.spec.parent?.depth, 1);
    assert.equal(child(9)?.spec.parent?.depth, 10);
    assert.equal(child(10), undefined);
  });
  it('belongs to one task and one run', () => {
    const of = { run: runOf(), task, name: 'c', namespace: 'default' };
    const made = childRunOf(of) as WorkflowRun;
    assert.ok(isChildOf(made, of));
    assert.ok(!isChildOf(made, { ...of, task: { ...task, id: '1-0' } }));
    const other = { ...of.run, metadata: { ...of.run.metadata, uid: 'another' } };
    assert.ok(!isChildOf(made, { ...of, run: other }));
  });
});

function world() {
  const captured: { context?: ControllerContext } = {};
  const server = new ScriptedWorld((context) => {
    captured.context = context;
    return { name: 'none', watches: [], reconcile: async () => undefined };
  });
  return { server, tasks: new TaskObjects(captured.context ?? assert.fail()) };
}

async function nameOf(server: ScriptedWorld, tasks: TaskObjects, run: WorkflowRun): Promise<string> {
  server.put(cronJobResource, cronJobOf());
  await tasks.look(run, task);
  return server.all(jobResource)[0]?.metadata.name ?? assert.fail();
}
