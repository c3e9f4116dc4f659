/** Runs of workflows on the control plane, with functions that a test answers. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../src/api/apps/v1/controller-revision.ts';
import { type Workflow, workflowResource } from '../../../src/api/minik8s/v1/workflow.ts';
import { workflowHistoryResource } from '../../../src/api/minik8s/v1/workflow-history.ts';
import { hasEnded, type WorkflowRun, workflowRunResource } from '../../../src/api/minik8s/v1/workflow-run.ts';
import type { Json } from '../../../src/states-language/json.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { FakeFunctions, type Handled, type Handling } from '../../fixtures/fake-functions.ts';
import { type Cluster, startCluster } from './cluster.ts';

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
const single = (state: object) => ({ StartAt: 'A', States: { A: state } });

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
  it('goes from its input to its output', async () => {
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

  it('has an empty object for no input', async () => {
    assert.deepEqual((await run(single({ Type: 'Pass', End: true }))).output, {});
  });

  it('fails with the name that a function gives its error', async () => {
    handle({ broken: () => ({ error: 'NoMoney', message: 'the card is empty' }) });
    const { phase, error, cause } = await run(single(task('function:broken')));
    assert.deepEqual([phase, error, cause], ['Failed', 'NoMoney', 'the card is empty']);
  });

  it('fails where there is no such function', async () => {
    handle({});
    const { phase, error } = await run(single(task('function:none')));
    assert.deepEqual([phase, error], ['Failed', 'Function.NotFound']);
  });

  it('tries again and catches, waits and goes parallel', async () => {
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
          Rest: { Type: 'Wait', Seconds: 3600, End: true },
        },
      },
      { list: [1, 2, 3] },
    );
    assert.deepEqual([phase, output], ['Succeeded', ['done', 'caught', [2, 3, 4]]]);
    assert.equal(functions.ran.filter((one) => one.function === 'flaky').length, 3);
  });

  it('waits for its workflow', async () => {
    const name = await begin('later');
    await cluster.eventually('it says why it waits', async () =>
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
      await workflow(single({ Type: 'Map', ItemProcessor: single({ Type: 'Pass', End: true }), End: true })),
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
    const branch = single({ Type: 'Wait', Seconds: 10, End: true });
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

  it('has expressions of JSONata', async () => {
    const { output } = await run(
      {
        QueryLanguage: 'JSONata',
        ...single({ Type: 'Pass', Output: '{% $sum($states.input) %}', End: true }),
      },
      [1, 2, 3],
    );
    assert.equal(output, 6);
  });
});

function single2() {
  return single(task('function:each'));
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
