/** Runs of workflows: their states, ends and expressions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { namespaceResource } from '../../../../../src/api/core/v1/namespace.ts';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import { workflowHistoryResource } from '../../../../../src/features/workflows/api/workflow-history.ts';
import { hasEnded, workflowRunResource } from '../../../../../src/features/workflows/api/workflow-run.ts';
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

  it('continues even if its namespace has started many runs at once', async () => {
    const of = await workflow(single({ Type: 'Pass', End: true }));
    const names = await Promise.all(Array.from({ length: 60 }, () => begin(of)));
    for (const name of names) assert.equal((await ended(name)).phase, 'Succeeded');
  });

  it('is stopped by its deletion while a finalizer keeps it', async () => {
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

  it('has an empty object as input if it is given none', async () => {
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

  it('waits until its workflow exists', async () => {
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

  it('keeps the definition with which it began, even if the workflow changes', async () => {
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

  it('is stopped together with its calls', async () => {
    handle({ slow: () => 'never' });
    const name = await begin(await workflow(single(task('function:slow'))));
    await cluster.eventually('it is called', () => functions.ran.length === 1);
    await cluster.edit(workflowRunResource, name, ({ spec }) => {
      spec.stop = { error: 'Enough', cause: 'a person said so' };
    });
    const { phase, error, cause } = await ended(name);
    assert.deepEqual([phase, error, cause], ['Aborted', 'Enough', 'a person said so']);
  });

  it('fails by the timeouts of its tasks', async () => {
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
  it('are removed when there are too many of them or they are too old', async () => {
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
