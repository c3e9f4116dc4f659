/** Tasks that are workflows or Jobs, and calls of workflows. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type CronJob, cronJobResource } from '../../../../../src/api/batch/v1/cron-job.ts';
import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { namespaceResource } from '../../../../../src/api/core/v1/namespace.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { roleBindingResource } from '../../../../../src/api/rbac/v1/role-binding.ts';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import { workflowRunResource } from '../../../../../src/features/workflows/api/workflow-run.ts';
import {
  begin,
  cluster,
  ended,
  functions,
  get,
  handle,
  run,
  single,
  startWorkflowCluster,
  task,
  workflow,
} from './workflow-cluster.ts';

startWorkflowCluster();

describe('a task that is another workflow', () => {
  it('has a run of its own, and returns the output of that run', async () => {
    handle({ double: ({ input }) => ({ output: Number(input) * 2 }) });
    const inner = await workflow(single(task('function:double')));
    const name = await begin(await workflow(single(task(`workflow:${inner}`))), 4);
    assert.equal((await ended(name)).output, 8);
    const uid = (await get(name))?.metadata.uid ?? '';
    const children = (await cluster.list(workflowRunResource, 'default')).filter(
      ({ spec }) => spec.parent?.uid === uid,
    );
    assert.deepEqual(
      children.map(({ spec }) => [spec.workflow, spec.input, spec.parent?.depth]),
      [[inner, 4, 1]],
    );
    await cluster.eventually('it is released', async () => {
      const child = await get(children[0]?.metadata.name ?? '');
      return child && (child.metadata.finalizers ?? []).length === 0;
    });
    await cluster.client.resource(workflowRunResource).delete(name, 'default', {});
    await cluster.eventually(
      'the run is deleted with its parent run',
      async () => (await get(children[0]?.metadata.name ?? '')) === undefined,
    );
  });

  it('fails with the error of the called workflow, or if the workflow does not exist', async () => {
    const inner = await workflow(single({ Type: 'Fail', Error: 'Bad', Cause: 'so' }));
    const { error, cause } = await run(single(task(`workflow:${inner}`)));
    assert.deepEqual([error, cause], ['Bad', 'so']);
    assert.equal((await run(single(task('workflow:none')))).error, 'Workflow.NotFound');
  });

  it('is stopped with its parent run', async () => {
    const inner = await workflow(single({ Type: 'Wait', Seconds: 100_000, End: true }));
    const name = await begin(await workflow(single(task(`workflow:${inner}`))));
    const child = await cluster.eventually('it runs', async () =>
      (await cluster.list(workflowRunResource, 'default')).find(
        ({ spec, status }) => spec.workflow === inner && status?.phase === 'Running',
      ),
    );
    await cluster.edit(workflowRunResource, name, ({ spec }) => {
      spec.stop = {};
    });
    assert.equal((await ended(name)).phase, 'Aborted');
    assert.equal((await ended(child.metadata.name)).phase, 'Aborted');
  });

  it('ends if a workflow calls itself forever', async () => {
    const name = 'calls-itself';
    await cluster.client.resource(workflowResource).create({
      apiVersion: 'minik8s.io/v1',
      kind: 'Workflow',
      metadata: { name, namespace: 'default' },
      spec: { definition: single(task(`workflow:${name}`)) },
    } as unknown as Workflow);
    const { phase, error } = await ended(await begin(name));
    assert.deepEqual([phase, error], ['Failed', 'Workflow.TooDeep']);
    const runs = (await cluster.list(workflowRunResource, 'default')).filter(
      ({ spec }) => spec.workflow === name,
    );
    assert.equal(runs.length, 11);
  });

  it('in another namespace needs rights', async () => {
    await cluster.client.resource(namespaceResource).create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'other' },
      spec: {},
    });
    await cluster.client.resource(workflowResource).create({
      apiVersion: 'minik8s.io/v1',
      kind: 'Workflow',
      metadata: { name: 'there', namespace: 'other' },
      spec: { definition: single({ Type: 'Pass', Result: 'from there', End: true }) },
    } as unknown as Workflow);
    const of = await workflow(single(task('workflow:other/there')));
    const { error, cause } = await ended(await begin(of));
    assert.equal(error, 'States.Permissions');
    assert.match(cause ?? '', /default\/default may not use workflow other\/there/);
    await cluster.client.resource(roleBindingResource).create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'workflows', namespace: 'other' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
    });
    assert.equal((await ended(await begin(of))).output, 'from there');
  });
});

describe('a task that is a Job', () => {
  const cronJob = (name: string) =>
    cluster.client.resource(cronJobResource).create({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name, namespace: 'default' },
      spec: {
        schedule: '0 0 1 1 *',
        suspend: true,
        jobTemplate: {
          spec: {
            backoffLimit: 0,
            template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } },
          },
        },
      },
    } as unknown as Parameters<ReturnType<typeof cluster.client.resource<CronJob>>['create']>[0]);
  const jobsOf = async (uid: string | undefined) =>
    (await cluster.list(jobResource, 'default')).filter(
      ({ metadata }) => metadata.annotations?.['minik8s.io/workflow-run-uid'] === uid,
    );

  before(async () => {
    await cluster.addNode('one');
  });

  it('is created from a CronJob, and returns the output of the Job', async () => {
    await cronJob('report');
    cluster.agent.outcome = () => undefined;
    const name = await begin(await workflow(single(task('job:report'))), { month: 5 });
    const uid = (await get(name))?.metadata.uid;
    const pod = await cluster.eventually('its pod runs', async () =>
      (await cluster.list(podResource, 'default')).find(({ status }) => status?.phase === 'Running'),
    );
    const [container] = pod.spec.containers;
    assert.deepEqual(container?.env, [{ name: 'TASK_INPUT', value: '{"month":5}' }]);
    const terminated = { exitCode: 0, message: '{"total":7}' };
    const about = { image: 'c:1', imageID: 'c', ready: false, restartCount: 0 };
    const containerStatuses = [{ name: 'c', ...about, state: { terminated } }];
    await cluster.client.resource(podResource).updateStatus({
      ...pod,
      status: { ...pod.status, phase: 'Succeeded', containerStatuses },
    } as unknown as Pod);
    assert.deepEqual((await ended(name)).output, { total: 7 });
    await cluster.eventually('it is released', async () =>
      (await jobsOf(uid)).every(({ metadata }) => !metadata.finalizers?.includes('minik8s.io/workflow-task')),
    );
    assert.equal((await jobsOf(uid)).length, 1);
  });

  it('fails if the Job fails, or if the CronJob does not exist', async () => {
    await cronJob('broken');
    cluster.agent.outcome = () => 'Failed';
    const { error, cause } = await run(single(task('job:broken')));
    assert.equal(error, 'Job.Failed');
    assert.match(cause ?? '', /BackoffLimitExceeded/);
    assert.equal((await run(single(task('job:none')))).error, 'Job.NotFound');
  });

  it('is removed when its run is stopped', async () => {
    await cronJob('long');
    cluster.agent.outcome = () => undefined;
    const name = await begin(await workflow(single(task('job:long'))));
    const uid = (await get(name))?.metadata.uid;
    await cluster.eventually('it is there', async () => (await jobsOf(uid)).length === 1);
    await cluster.edit(workflowRunResource, name, ({ spec }) => {
      spec.stop = {};
    });
    await ended(name);
    await cluster.eventually('it is gone', async () => (await jobsOf(uid)).length === 0);
  });
});

describe('a call of a workflow', () => {
  const call = async (name: string, init: RequestInit = {}, query = '') => {
    const url = `http://x/apis/minik8s.io/v1/namespaces/default/workflows/${name}/invoke${query}`;
    const answer = await cluster.until(
      cluster.ask(new Request(url, { method: 'POST', ...init })).then(async (response) => ({
        status: response.status,
        headers: response.headers,
        body: await response.json(),
      })),
    );
    return answer;
  };

  it('is answered with the output of the run', async () => {
    const name = await workflow(single({ Type: 'Pass', End: true }));
    const { status, body, headers } = await call(name, { body: '{"a":1}' });
    assert.deepEqual([status, body], [200, { a: 1 }]);
    assert.ok(headers.get('workflow-run')?.startsWith(`${name}-`));
  });

  it('is answered with the error of the run', async () => {
    const name = await workflow(single({ Type: 'Fail', Error: 'Bad', Cause: 'so' }));
    const { status, body } = await call(name);
    assert.deepEqual([status, body], [500, { error: 'Bad', cause: 'so' }]);
  });

  it('is answered at once if the caller prefers that, or if the run takes too long', async () => {
    const name = await workflow(single({ Type: 'Wait', Seconds: 100, End: true }));
    for (const [init, query] of [
      [{ headers: { prefer: 'respond-async' } }, ''],
      [{}, '?timeoutSeconds=5'],
    ] as const) {
      const { status, headers } = await call(name, init, query);
      const run = headers.get('workflow-run');
      assert.equal(status, 202);
      assert.equal(headers.get('location'), `/apis/minik8s.io/v1/namespaces/default/workflowruns/${run}`);
      assert.equal((await ended(run ?? '', 200_000)).phase, 'Succeeded');
    }
  });

  it('may have a name, so that a repeated call starts no second run', async () => {
    handle({ count: () => ({ output: functions.ran.length }) });
    const name = await workflow(single(task('function:count')));
    const init = { body: '{"a":1}', headers: { 'workflow-run-name': 'mine' } };
    const first = await call(name, init);
    assert.deepEqual((await call(name, init)).body, first.body);
    assert.equal(functions.ran.length, 1);
    assert.equal((await call(name, { ...init, body: '{"a":2}' })).status, 409);
  });

  it('is refused if the input is not JSON, or the workflow does not exist', async () => {
    const name = await workflow(single({ Type: 'Succeed' }));
    assert.equal((await call(name, { body: '{' })).status, 400);
    assert.equal((await call('none')).status, 404);
    assert.equal((await call(name, { body: `"${'a'.repeat(300_000)}"` })).status, 413);
    assert.equal((await call(name, {}, '?timeoutSeconds=x')).status, 400);
  });
});
