/** Workflow runs on the control plane, with functions that a test answers. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { type CronJob, cronJobResource } from '../../../../../src/api/batch/v1/cron-job.ts';
import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { namespaceResource } from '../../../../../src/api/core/v1/namespace.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { roleBindingResource } from '../../../../../src/api/rbac/v1/role-binding.ts';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import { workflowHistoryResource } from '../../../../../src/features/workflows/api/workflow-history.ts';
import {
  hasEnded,
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import type { Json } from '../../../../../src/states-language/json.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { FakeFunctions, type Handled, type Handling } from '../../../../fixtures/fake-functions.ts';
import { type Cluster, startCluster } from '../../../controllers/cluster.ts';

let cluster: Cluster;
let functions: FakeFunctions;

before(async () => {
  const clock = new FakeClock();
  functions = new FakeFunctions(clock);
  cluster = await startCluster({ clock, placedCalls: functions.calls() });
});
after(() => cluster.stop());
beforeEach(() => {
  functions.ran.length = 0;
  functions.isFull = false;
});

const task = (resource: string, more: object = {}) => ({
  Type: 'Task',
  Resource: resource,
  End: true,
  ...more,
});
const single = (state: object, name = 'A') => ({ StartAt: name, States: { [name]: state } });

let made = 0;

async function workflow(definition: object, spec: Partial<Workflow['spec']> = {}): Promise<string> {
  const name = `w${made++}`;
  await cluster.client.resource(workflowResource).create({
    apiVersion: 'minik8s.io/v1',
    kind: 'Workflow',
    metadata: { name, namespace: 'default' },
    spec: { definition, public: false, serviceAccountName: 'default', runsHistoryLimit: 100, ...spec },
  });
  return name;
}

async function begin(of: string, input?: Json, name = `${of}-r${made++}`): Promise<string> {
  await cluster.client.resource(workflowRunResource).create({
    apiVersion: 'minik8s.io/v1',
    kind: 'WorkflowRun',
    metadata: { name, namespace: 'default' },
    spec: { workflow: of, ...(input !== undefined && { input }) },
  });
  return name;
}

const get = (name: string) => cluster.get(workflowRunResource, name);

async function ended(name: string, within = 60_000): Promise<NonNullable<WorkflowRun['status']>> {
  const run = await cluster.eventually(
    `run ${name} has ended`,
    async () => {
      const found = await get(name);
      return found && hasEnded(found) && found;
    },
    within,
  );
  return run.status ?? {};
}

async function run(definition: object, input?: Json) {
  return ended(await begin(await workflow(definition), input));
}

const handle = (handlers: Readonly<Record<string, (call: Handled) => Handling>>) => {
  functions.handle = (call) => handlers[call.function]?.(call);
};

describe('a run', () => {
  it('runs from its input to its output', async () => {
    handle({ double: ({ input }) => ({ output: Number(input) * 2 }) });
    const {
      phase,
      output,
      history = [],
      historyCount,
      state,
    } = await run(single(task('function:double')), 21);
    assert.deepEqual([phase, output, historyCount, state], ['Succeeded', 42, 6, undefined]);
    assert.deepEqual(
      history.map(({ type, input, output }) => [type, input, output].filter((one) => one !== undefined)),
      [
        ['ExecutionStarted', '21'],
        ['TaskStateEntered', '21'],
        ['TaskScheduled', '21'],
        ['TaskSucceeded', '42'],
        ['TaskStateExited', '42'],
        ['ExecutionSucceeded', '42'],
      ],
    );
    assert.equal(functions.ran.length, 1);
  });

  it('gets its turn when its namespace starts many at once', async () => {
    const of = await workflow(single({ Type: 'Pass', End: true }));
    const names = await Promise.all(Array.from({ length: 60 }, () => begin(of)));
    for (const name of names) assert.equal((await ended(name)).phase, 'Succeeded');
  });

  it('is stopped by its deletion where something holds it', async () => {
    handle({ slow: () => 'never' });
    const name = await begin(await workflow(single(task('function:slow'))));
    await cluster.eventually('it calls', () => functions.ran.length === 1);
    const runs = cluster.client.resource(workflowRunResource);
    await runs.patch(name, 'default', 'merge', { metadata: { finalizers: ['test.io/held'] } });
    await runs.delete(name, 'default');
    const { phase, cause } = await ended(name);
    assert.deepEqual([phase, cause], ['Aborted', 'the run was deleted']);
    await runs.patch(name, 'default', 'merge', { metadata: { finalizers: [] } });
  });

  it('does not begin with a workflow that is being deleted', async () => {
    const of = await workflow(single({ Type: 'Pass', End: true }));
    const workflows = cluster.client.resource(workflowResource);
    await workflows.patch(of, 'default', 'merge', { metadata: { finalizers: ['test.io/held'] } });
    await workflows.delete(of, 'default');
    const name = await begin(of);
    await cluster.eventually('it waits', async () =>
      (await get(name))?.status?.conditions?.some(({ reason }) => reason === 'WorkflowNotFound'),
    );
    await workflows.patch(of, 'default', 'merge', { metadata: { finalizers: [] } });
  });

  it('has an empty object for no input', async () => {
    assert.deepEqual((await run(single({ Type: 'Pass', End: true }))).output, {});
  });

  it('fails with the name that a function gives its error', async () => {
    handle({ broken: () => ({ error: 'NoMoney', message: 'the card is empty' }) });
    const { phase, error, cause } = await run(single(task('function:broken')));
    assert.deepEqual([phase, error, cause], ['Failed', 'NoMoney', 'the card is empty']);
  });

  it('fails if the function does not exist', async () => {
    handle({});
    const { phase, error } = await run(single(task('function:none')));
    assert.deepEqual([phase, error], ['Failed', 'Function.NotFound']);
  });

  it('retries, catches, waits and runs parallel branches', async () => {
    handle({
      flaky: ({ before }) => (before < 2 ? { error: 'Busy' } : { output: 'done' }),
      bad: () => ({ error: 'Bad' }),
      each: ({ input }) => ({ output: Number(input) + 1, afterMs: 10 }),
    });
    const { phase, output } = await run(
      {
        StartAt: 'All',
        States: {
          All: {
            Type: 'Parallel',
            Next: 'Rest',
            Branches: [
              single(task('function:flaky', { Retry: [{ ErrorEquals: ['Busy'], IntervalSeconds: 5 }] })),
              {
                StartAt: 'B',
                States: {
                  B: task('function:bad', { Catch: [{ ErrorEquals: ['Bad'], Next: 'C' }] }),
                  C: { Type: 'Pass', Result: 'caught', End: true },
                },
              },
              {
                StartAt: 'M',
                States: { M: { Type: 'Map', ItemsPath: '$.list', ItemProcessor: single2(), End: true } },
              },
            ],
          },
          Rest: { Type: 'Wait', Seconds: 30, End: true },
        },
      },
      { list: [1, 2, 3] },
    );
    assert.deepEqual([phase, output], ['Succeeded', ['done', 'caught', [2, 3, 4]]]);
    assert.equal(functions.ran.filter((one) => one.function === 'flaky').length, 3);
  });

  it('waits for its workflow', async () => {
    const name = await begin('later');
    await cluster.eventually('the reason for waiting is reported', async () =>
      (await get(name))?.status?.conditions?.some(({ reason }) => reason === 'WorkflowNotFound'),
    );
    assert.equal((await get(name))?.status?.phase, 'Pending');
    await cluster.client.resource(workflowResource).create({
      apiVersion: 'minik8s.io/v1',
      kind: 'Workflow',
      metadata: { name: 'later', namespace: 'default' },
      spec: { definition: single({ Type: 'Succeed' }) },
    } as unknown as Workflow);
    assert.equal((await ended(name)).phase, 'Succeeded');
    const owners = (await get(name))?.metadata.ownerReferences?.map(({ kind }) => kind);
    assert.deepEqual(owners, ['Workflow']);
  });

  it('keeps the definition with which it began', async () => {
    const of = await workflow({
      StartAt: 'W',
      States: { W: { Type: 'Wait', Seconds: 60, Next: 'P' }, P: { Type: 'Pass', Result: 'old', End: true } },
    });
    const name = await begin(of);
    await cluster.eventually('it runs', async () => (await get(name))?.status?.phase === 'Running');
    await cluster.edit(workflowResource, of, ({ spec }) => {
      spec.definition = single({ Type: 'Pass', Result: 'new', End: true });
    });
    assert.equal((await ended(await begin(of))).output, 'new');
    assert.equal((await ended(name, 120_000)).output, 'old');
    const revisions = await cluster.list(controllerRevisionResource, 'default');
    assert.equal(revisions.filter(({ metadata }) => metadata.name.startsWith(`${of}-`)).length, 2);
  });

  it('moves its history into objects of their own', async () => {
    const items = Array.from({ length: 60 }, (_, index) => index);
    const name = await begin(
      await workflow(
        single({ Type: 'Map', ItemProcessor: single({ Type: 'Pass', End: true }, 'P'), End: true }),
      ),
      items,
    );
    const { history = [], historyCount = 0 } = await ended(name);
    const trimmed = await cluster.eventually('its end is short', async () => {
      const found = (await get(name))?.status?.history ?? [];
      return found.length <= 50 && found;
    });
    const parts = (await cluster.list(workflowHistoryResource, 'default'))
      .filter(({ spec }) => spec.run === name)
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const all = [...parts.flatMap(({ spec }) => spec.entries), ...trimmed];
    assert.deepEqual(
      all.map(({ id }) => id),
      Array.from({ length: historyCount }, (_, index) => index + 1),
    );
    assert.ok(history.length > 0 && parts.every(({ spec }) => spec.entries.length === 50));
    assert.equal(all.at(-1)?.type, 'ExecutionSucceeded');
  });

  it('is stopped, and its calls with it', async () => {
    handle({ slow: () => 'never' });
    const name = await begin(await workflow(single(task('function:slow'))));
    await cluster.eventually('it is called', () => functions.ran.length === 1);
    await cluster.edit(workflowRunResource, name, ({ spec }) => {
      spec.stop = { error: 'Enough', cause: 'a person said so' };
    });
    const { phase, error, cause } = await ended(name);
    assert.deepEqual([phase, error, cause], ['Aborted', 'Enough', 'a person said so']);
  });

  it('ends by the times of its tasks', async () => {
    handle({ slow: () => 'never' });
    const { phase, error } = await run(single(task('function:slow', { TimeoutSeconds: 30 })));
    assert.deepEqual([phase, error], ['Failed', 'States.Timeout']);
  });

  it('fails when it cannot be stored', async () => {
    const text = 'x'.repeat(240_000);
    const branch = single({ Type: 'Wait', Seconds: 10, End: true }, 'W');
    const { phase, error } = await run(
      single({
        Type: 'Map',
        ItemsPath: '$.list',
        ItemSelector: { 'text.$': '$.text', 'index.$': '$$.Map.Item.Index' },
        ItemProcessor: branch,
        End: true,
      }),
      { text, list: Array.from({ length: 20 }, () => 0) },
    );
    assert.deepEqual([phase, error], ['Failed', 'States.DataLimitExceeded']);
  });

  it('fails when its output has too many values', async () => {
    handle({ many: () => ({ output: Array.from({ length: 60_000 }, () => 0) }) });
    const { phase, error } = await run(single(task('function:many')));
    assert.deepEqual([phase, error], ['Failed', 'States.DataLimitExceeded']);
  });
});

function single2() {
  return single(task('function:each'), 'E');
}

describe('ended runs', () => {
  it('are removed by their number and by their age', async () => {
    const of = await workflow(single({ Type: 'Succeed' }), {
      runsHistoryLimit: 2,
      ttlSecondsAfterFinished: 100,
    });
    for (let index = 0; index < 4; index++) {
      await ended(await begin(of));
      await cluster.pass(2000);
    }
    const left = async () =>
      (await cluster.list(workflowRunResource, 'default')).filter(({ spec }) => spec.workflow === of).length;
    await cluster.eventually('two are left', async () => (await left()) === 2);
    await cluster.eventually('none is left', async () => (await left()) === 0, 200_000);
    assert.equal((await cluster.get(workflowResource, of))?.status?.active, 0);
  });
});

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
      'it goes with the run above it',
      async () => (await get(children[0]?.metadata.name ?? '')) === undefined,
    );
  });

  it('fails with the error of that workflow, and if it does not exist', async () => {
    const inner = await workflow(single({ Type: 'Fail', Error: 'Bad', Cause: 'so' }));
    const { error, cause } = await run(single(task(`workflow:${inner}`)));
    assert.deepEqual([error, cause], ['Bad', 'so']);
    assert.equal((await run(single(task('workflow:none')))).error, 'Workflow.NotFound');
  });

  it('is stopped with the run above it', async () => {
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
    const name = `self${made++}`;
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

  it('fails with the Job, and if there is no CronJob', async () => {
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

  it('is answered with the output', async () => {
    const name = await workflow(single({ Type: 'Pass', End: true }));
    const { status, body, headers } = await call(name, { body: '{"a":1}' });
    assert.deepEqual([status, body], [200, { a: 1 }]);
    assert.ok(headers.get('workflow-run')?.startsWith(`${name}-`));
  });

  it('is answered with the error', async () => {
    const name = await workflow(single({ Type: 'Fail', Error: 'Bad', Cause: 'so' }));
    const { status, body } = await call(name);
    assert.deepEqual([status, body], [500, { error: 'Bad', cause: 'so' }]);
  });

  it('is answered at once when that is preferred, and late when it takes long', async () => {
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

  it('may have a name, by which it is made once', async () => {
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

describe('runs of a namespace whose expressions take long', () => {
  it('leave workers to runs of another namespace', async () => {
    const client = cluster.client.resource(workflowResource);
    const spec = { public: false, serviceAccountName: 'default', runsHistoryLimit: 100 };
    await cluster.client.resource(namespaceResource).create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'beside' },
      spec: {},
    });
    await client.create({
      apiVersion: 'minik8s.io/v1',
      kind: 'Workflow',
      metadata: { name: 'quick', namespace: 'beside' },
      spec: { ...spec, definition: single({ Type: 'Pass', End: true }) },
    });
    const Output = `{% $match("${'a'.repeat(40)}b", /^(a+)+$/) %}`;
    const slow = await workflow(single({ Type: 'Pass', QueryLanguage: 'JSONata', Output, End: true }));
    const names = await Promise.all(Array.from({ length: 60 }, () => begin(slow)));
    await cluster.eventually('the first has begun to be looked at', async () =>
      (await Promise.all(names.map(get))).some((run) => run && hasEnded(run)),
    );
    await cluster.client.resource(workflowRunResource).create({
      apiVersion: 'minik8s.io/v1',
      kind: 'WorkflowRun',
      metadata: { name: 'quick', namespace: 'beside' },
      spec: { workflow: 'quick' },
    });
    await cluster.eventually(
      'the quick run has ended',
      async () => {
        const found = await cluster.get(workflowRunResource, 'quick', 'beside');
        return found && hasEnded(found);
      },
      3_600_000,
    );
    const over = (await Promise.all(names.map(get))).filter((run) => run && hasEnded(run));
    assert.ok(over.length < 20, `${over.length} of the others came first`);
    for (const name of names) await ended(name, 3_600_000);
  });
});
