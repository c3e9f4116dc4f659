/** Parallel: branches, their failures and their variables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alone, outputOf, started, WorkflowRun } from '../../fixtures/workflow-run.ts';
import { one } from './children-world.ts';

const parallel = (more: object = {}) => ({
  Type: 'Parallel',
  Branches: [one('A'), one('B'), one('C')],
  End: true,
  ...more,
});

test('Parallel starts all branches at once, and its output has their outputs in order', async () => {
  const run = await WorkflowRun.start(alone(parallel()), { x: 1 });
  assert.deepEqual(
    run.tasks.map(({ id, state, input }) => [id, state, input]),
    [
      ['0-0.0.0-0', 'A', { x: 1 }],
      ['0-0.1.0-0', 'B', { x: 1 }],
      ['0-0.2.0-0', 'C', { x: 1 }],
    ],
  );
  for (const [id, output] of [
    ['0-0.2.0-0', 'c'],
    ['0-0.0.0-0', null],
    ['0-0.1.0-0', 'b'],
  ] as const) {
    assert.equal(run.state.status, 'Running');
    await run.send({ type: 'TaskSucceeded', id, output });
  }
  assert.deepEqual(run.output, [null, 'b', 'c']);
});

test('a Parallel applies its paths, Parameters and ResultSelector', async () => {
  const input = { x: { y: 1 }, z: 2 };
  const state = parallel({
    InputPath: '$.x',
    Parameters: { 'p.$': '$.y' },
    ResultSelector: { 'first.$': '$[0]' },
    ResultPath: '$.r',
  });
  assert.deepEqual(
    await outputOf(state, input, ({ input: given, state: name }) => ({ output: { given, name } })),
    {
      ...input,
      r: { first: { given: { p: 1 }, name: 'A' } },
    },
  );
});

test('when a branch fails, the other branches are cancelled and the Parallel fails with its error', async () => {
  const run = await WorkflowRun.start(alone(parallel()));
  await run.send({ type: 'TaskFailed', id: '0-0.1.0-0', error: 'Mine', cause: 'why' });
  assert.equal(run.error, 'Mine');
  assert.deepEqual(run.cancelled, ['0-0.0.0-0', '0-0.2.0-0']);
  assert.deepEqual(run.state.stopping, ['0-0.0.0-0', '0-0.2.0-0']);
  await run.send({ type: 'TaskSucceeded', id: '0-0.0.0-0', output: 1 });
  await run.send({ type: 'TaskStopped', id: '0-0.2.0-0' });
  assert.deepEqual(run.state.stopping, []);
  assert.deepEqual(
    run.history.slice(-4).map(({ type, way }) => [type, way]),
    [
      ['TaskStateAborted', '0-0.0.0-0'],
      ['TaskStateAborted', '0-0.2.0-0'],
      ['ParallelStateFailed', undefined],
      ['ExecutionFailed', undefined],
    ],
  );
});

test('a Parallel that fails is retried as a whole, with new ids', async () => {
  const run = await WorkflowRun.start(
    alone(parallel({ Retry: [{ ErrorEquals: ['States.BranchFailed'], MaxAttempts: 1 }] })),
    'in',
  );
  await run.send({ type: 'TaskSucceeded', id: '0-0.0.0-0', output: 'old' });
  await run.send({ type: 'TaskFailed', id: '0-0.1.0-0', error: 'Mine', cause: '' });
  assert.equal(run.due, started + 1000);
  await run.passTime();
  assert.deepEqual(
    run.tasks.slice(3).map(({ id, input }) => [id, input]),
    [
      ['0-1.0.0-0', 'in'],
      ['0-1.1.0-0', 'in'],
      ['0-1.2.0-0', 'in'],
    ],
  );
  await run.finish(({ state }) => ({ output: state }));
  assert.deepEqual(run.output, ['A', 'B', 'C']);
});

test('a Parallel that fails is caught', async () => {
  const definition = alone(parallel({ Catch: [{ ErrorEquals: ['Mine'], Next: 'R', ResultPath: '$.e' }] }), {
    R: { Type: 'Pass', InputPath: '$.e.Error', End: true },
  });
  const run = await WorkflowRun.start(definition);
  await run.finish(({ state }) => (state === 'B' ? { error: 'Mine' } : 'never'));
  assert.equal(run.output, 'Mine');
  assert.deepEqual(run.cancelled, ['0-0.0.0-0', '0-0.2.0-0']);
});

test('an error that is caught in a branch does not affect the Parallel', async () => {
  const branch = {
    StartAt: 'X',
    States: {
      X: {
        Type: 'Task',
        Resource: 'function:x',
        Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Y' }],
        End: true,
      },
      Y: { Type: 'Pass', Result: 'caught', End: true },
    },
  };
  const state = { Type: 'Parallel', Branches: [branch, one('B')], End: true };
  assert.deepEqual(
    await outputOf(state, {}, ({ state: name }) => (name === 'X' ? { error: 'E' } : { output: 'b' })),
    ['caught', 'b'],
  );
});

test('a Fail in a branch fails the Parallel', async () => {
  const state = {
    Type: 'Parallel',
    Branches: [{ StartAt: 'F', States: { F: { Type: 'Fail', Error: 'Mine' } } }, one('B')],
    End: true,
  };
  const run = await WorkflowRun.start(alone(state));
  assert.equal(run.error, 'Mine');
  assert.deepEqual(run.tasks, [], 'no task of B is outstanding');
});

test('branches wait separately, and the earliest end sets the timer', async () => {
  const wait = (name: string, Seconds: number) => ({
    StartAt: name,
    States: { [name]: { Type: 'Wait', Seconds, End: true } },
  });
  const run = await WorkflowRun.start(
    alone({ Type: 'Parallel', Branches: [wait('A', 5), wait('B', 3)], End: true }),
  );
  assert.equal(run.due, started + 3000);
  await run.passTime();
  assert.equal(run.due, started + 5000);
  await run.passTime();
  assert.deepEqual(run.output, [{}, {}]);
});

test('a branch sees outer variables, and its own variables end with it', async () => {
  const run = await WorkflowRun.start({
    StartAt: 'P',
    States: {
      P: { Type: 'Pass', Assign: { outer: 1 }, Next: 'Q' },
      Q: {
        Type: 'Parallel',
        Branches: [
          {
            StartAt: 'A',
            States: {
              A: { Type: 'Pass', Assign: { 'inner.$': '$outer' }, Next: 'B' },
              B: { Type: 'Pass', Parameters: { 'i.$': '$inner', 'o.$': '$outer' }, End: true },
            },
          },
        ],
        Next: 'R',
      },
      R: { Type: 'Pass', Parameters: { 'i.$': '$inner' }, End: true },
    },
  });
  assert.equal(run.error, 'States.ParameterPathFailure');
  assert.equal(run.entered.at(-1), 'R');
});

test('the history has the path into branches, and the success of a Parallel', async () => {
  const run = await WorkflowRun.start(alone(parallel()));
  await run.finish();
  assert.deepEqual(
    run.history.filter(({ state }) => state === 'B').map(({ type, way }) => [type, way]),
    [
      ['TaskStateEntered', '0-0.1'],
      ['TaskScheduled', '0-0.1.0-0'],
      ['TaskSucceeded', '0-0.1.0-0'],
      ['TaskStateExited', '0-0.1'],
    ],
  );
  assert.deepEqual(
    run.history.slice(-3).map(({ type }) => type),
    [...['ParallelStateSucceeded', 'ParallelStateExited', 'ExecutionSucceeded']],
  );
});
