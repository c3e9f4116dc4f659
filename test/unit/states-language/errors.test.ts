/** Retry and Catch: the errors that they match, the pauses between attempts, and the next state. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesError } from '../../../src/states-language/failure.ts';
import type { Json } from '../../../src/states-language/json.ts';
import { delayOf } from '../../../src/states-language/run/recover.ts';
import { alone, started, type Task, type TaskEnd, WorkflowRun } from '../../fixtures/workflow-run.ts';

const matching: [names: string[], error: string, expected: boolean][] = [
  [['Mine'], 'Mine', true],
  [['Mine'], 'Yours', false],
  [['Other', 'Mine'], 'Mine', true],
  [['States.ALL'], 'Mine', true],
  [['States.ALL'], '', true],
  [['States.ALL'], 'States.Timeout', true],
  [['States.ALL'], 'States.Runtime', false],
  [['States.Runtime'], 'States.Runtime', false],
  [['States.ALL'], 'States.DataLimitExceeded', false],
  [['States.TaskFailed'], 'States.DataLimitExceeded', false],
  [['States.DataLimitExceeded'], 'States.DataLimitExceeded', true],
  [['States.TaskFailed'], 'Mine', true],
  [['States.TaskFailed'], 'States.Permissions', true],
  [['States.TaskFailed'], 'States.Timeout', false],
  [['States.TaskFailed'], 'States.HeartbeatTimeout', false],
  [['States.Timeout'], 'States.Timeout', true],
  [['States.Timeout'], 'States.HeartbeatTimeout', true],
  [['States.HeartbeatTimeout'], 'States.Timeout', false],
  [['States.HeartbeatTimeout'], 'States.HeartbeatTimeout', true],
  [['States.Timeout'], 'Mine', false],
  [['States.BranchFailed'], 'Mine', false],
];
for (const [names, error, expected] of matching)
  test(`${names.join(', ')} ${expected ? 'matches' : 'does not match'} ${error || 'an error without a name'}`, () =>
    assert.equal(matchesError(names, { error, cause: '' }), expected));

test('States.BranchFailed matches every failure in a branch except States.Runtime', () => {
  assert.equal(matchesError(['States.BranchFailed'], { error: 'Mine', cause: '' }, true), true);
  assert.equal(matchesError(['States.BranchFailed'], { error: 'States.Runtime', cause: '' }, true), false);
});

const half = { next: () => 0.5, uuid: () => '' };
const delays: [retrier: object, seconds: number[]][] = [
  [{}, [1, 2, 4, 8]],
  [{ IntervalSeconds: 3, BackoffRate: 1.5 }, [3, 4.5, 6.75]],
  [{ IntervalSeconds: 3, BackoffRate: 1 }, [3, 3, 3]],
  [{ IntervalSeconds: 3, BackoffRate: 2, MaxDelaySeconds: 10 }, [3, 6, 10, 10]],
  [{ IntervalSeconds: 4, JitterStrategy: 'FULL' }, [2, 4, 8]],
  [{ IntervalSeconds: 4, JitterStrategy: 'NONE' }, [4, 8]],
  [{ IntervalSeconds: 4, JitterStrategy: 'FULL', MaxDelaySeconds: 5 }, [2, 2.5]],
  [{ BackoffRate: 1000 }, [1, 1000, 1_000_000, 99_999_999, 99_999_999]],
];
for (const [retrier, seconds] of delays)
  test(`the delays of the retrier ${JSON.stringify(retrier)} are ${seconds.join(', ')} seconds`, () =>
    assert.deepEqual(
      seconds.map((_, used) => delayOf({ ErrorEquals: ['States.ALL'], ...retrier }, used, half)),
      seconds,
    ));

const task = { Type: 'Task', Resource: 'function:f', End: true };
const failsWith = (...errors: (string | Json[])[]) => {
  const left = [...errors];
  return (): TaskEnd => {
    const next = left.shift();
    return typeof next === 'string' ? { error: next, cause: 'why' } : { output: next?.[0] ?? 'ok' };
  };
};

/** Returns the time of each attempt, in seconds from the start. */
async function attempts(retry: object[], ...errors: string[]) {
  const run = await WorkflowRun.start(alone({ ...task, Retry: retry }));
  const answer = failsWith(...errors);
  const at: number[] = [];
  await run.finish((one, { now }) => {
    at.push((now - started) / 1000);
    assert.equal(one.id, `0-${at.length - 1}`);
    return answer();
  });
  return { at, run };
}

test('a task is tried again after each interval, until it succeeds', async () => {
  const { at, run } = await attempts(
    [{ ErrorEquals: ['ErrorA', 'ErrorB'], IntervalSeconds: 3, MaxAttempts: 2, BackoffRate: 1.5 }],
    ...['ErrorA', 'ErrorB'],
  );
  assert.deepEqual(at, [0, 3, 7.5]);
  assert.equal(run.output, 'ok');
  assert.deepEqual(run.entered, ['S']);
  assert.deepEqual(
    run.history.filter(({ type }) => type === 'RetryScheduled').map(({ detail, way }) => [way, detail]),
    [
      ['0-0', { error: 'ErrorA', cause: 'why', seconds: 3 }],
      ['0-1', { error: 'ErrorB', cause: 'why', seconds: 4.5 }],
    ],
  );
});

test('a retrier makes three retries by default, and then the error remains', async () => {
  const { at, run } = await attempts([{ ErrorEquals: ['States.ALL'] }], 'A', 'A', 'A', 'B');
  assert.deepEqual(at, [0, 1, 3, 7]);
  assert.equal(run.error, 'B');
  assert.equal(run.state.failure?.cause, 'why');
});

test('MaxAttempts 0 permits no retry', async () => {
  const { at, run } = await attempts(
    [{ ErrorEquals: ['A'], MaxAttempts: 0 }, { ErrorEquals: ['States.ALL'] }],
    'A',
  );
  assert.deepEqual([at, run.error], [[0], 'A']);
});

test('each retrier has its own count, and the first retrier that matches the error is used', async () => {
  const retry = [
    { ErrorEquals: ['A'], IntervalSeconds: 10, MaxAttempts: 2, BackoffRate: 2 },
    { ErrorEquals: ['B'], IntervalSeconds: 100, MaxAttempts: 1 },
    { ErrorEquals: ['States.ALL'], IntervalSeconds: 1000, MaxAttempts: 5 },
  ];
  const { at, run } = await attempts(retry, 'A', 'B', 'A', 'C', 'B');
  assert.deepEqual(at, [0, 10, 110, 130, 1130]);
  assert.equal(run.error, 'B');
});

test('an error that no retrier matches is not retried', async () => {
  const { at, run } = await attempts([{ ErrorEquals: ['A'] }], 'B');
  assert.deepEqual([at, run.error], [[0], 'B']);
});

test('retries are counted anew when the state is entered again, and RetryCount contains the count', async () => {
  const definition = {
    StartAt: 'T',
    States: {
      T: {
        Type: 'Task',
        Resource: 'function:f',
        Parameters: { 'count.$': '$$.State.RetryCount' },
        Retry: [{ ErrorEquals: ['A'], MaxAttempts: 1 }],
        Next: 'C',
      },
      C: { Type: 'Choice', Choices: [{ Variable: '$', StringEquals: 'again', Next: 'T' }], Default: 'E' },
      E: { Type: 'Succeed' },
    },
  };
  const real = await WorkflowRun.start(definition);
  const answer = failsWith('A', ['again'], 'A', ['done']);
  await real.finish(answer);
  assert.equal(real.output, 'done');
  assert.deepEqual(
    real.tasks.map(({ id, input }) => [id, input]),
    [
      ['0-0', { count: 0 }],
      ['0-1', { count: 1 }],
      ['2-0', { count: 0 }],
      ['2-1', { count: 1 }],
    ],
  );
});

const caught = async (
  catcher: object,
  input: Json = { a: 1 },
  end: TaskEnd = { error: 'Mine', cause: 'why' },
) => {
  const run = await WorkflowRun.start(
    alone(
      { ...task, Catch: [{ ErrorEquals: ['States.ALL'], Next: 'C', ...catcher }] },
      { C: { Type: 'Pass', End: true } },
    ),
    input,
  );
  return run.finish(() => end);
};

test('Catch replaces the input by the error, or puts the error at its ResultPath', async () => {
  const error = { Error: 'Mine', Cause: 'why' };
  assert.deepEqual((await caught({})).output, error);
  assert.deepEqual((await caught({ ResultPath: '$.err' })).output, { a: 1, err: error });
  assert.deepEqual((await caught({ ResultPath: null })).output, { a: 1 });
});

test('Catch does not apply the OutputPath, the ResultPath and the ResultSelector of its state', async () => {
  const run = await WorkflowRun.start(
    alone(
      {
        ...task,
        OutputPath: '$.x',
        ResultPath: '$.y',
        ResultSelector: { 'z.$': '$.q' },
        Catch: [{ ErrorEquals: ['Mine'], Next: 'C' }],
      },
      { C: { Type: 'Pass', End: true } },
    ),
  );
  await run.finish(() => ({ error: 'Mine' }));
  assert.deepEqual(run.output, { Error: 'Mine', Cause: '' });
});

test('Catch assigns variables from the error', async () => {
  const run = await WorkflowRun.start(
    alone(
      {
        ...task,
        Catch: [{ ErrorEquals: ['Mine'], Assign: { 'e.$': '$.Error' }, ResultPath: null, Next: 'C' }],
      },
      { C: { Type: 'Pass', Parameters: { 'e.$': '$e' }, End: true } },
    ),
  );
  await run.finish(() => ({ error: 'Mine' }));
  assert.deepEqual(run.output, { e: 'Mine' });
});

test('the first matching catcher is used; without one the run fails', async () => {
  const definition = alone(
    {
      ...task,
      Catch: [
        { ErrorEquals: ['A'], Next: 'C' },
        { ErrorEquals: ['B', 'C'], Next: 'D' },
      ],
    },
    { C: { Type: 'Pass', Result: 'c', End: true }, D: { Type: 'Pass', Result: 'd', End: true } },
  );
  const end = async (error: string) => (await WorkflowRun.start(definition)).finish(() => ({ error }));
  assert.equal((await end('A')).output, 'c');
  assert.equal((await end('C')).output, 'd');
  assert.equal((await end('D')).error, 'D');
});

test('a catcher whose ResultPath does not fit fails the state', async () =>
  assert.equal((await caught({ ResultPath: '$.a.b' })).error, 'States.ResultPathMatchFailure'));

test('a catcher whose output is too large fails the state', async () => {
  const run = await caught({ ResultPath: '$.err' }, { a: 'x'.repeat(256 * 1024 - 20) });
  assert.equal(run.error, 'States.DataLimitExceeded');
});

test('retriers are used before catchers', async () => {
  const run = await WorkflowRun.start(
    alone(
      {
        ...task,
        Retry: [{ ErrorEquals: ['A'], MaxAttempts: 1 }],
        Catch: [{ ErrorEquals: ['A'], Next: 'C' }],
      },
      { C: { Type: 'Pass', Result: 'caught', End: true } },
    ),
  );
  await run.finish(() => ({ error: 'A' }));
  assert.equal(run.output, 'caught');
  assert.equal(run.tasks.length, 2);
  assert.deepEqual(
    run.history.filter(({ type }) => type === 'ErrorCaught').map(({ state, detail }) => [state, detail]),
    [['S', { error: 'A', cause: '', next: 'C' }]],
  );
});

test('failures before and after the task are retried and caught too', async () => {
  const definition = (state: object) =>
    alone(
      { ...task, ...state, Catch: [{ ErrorEquals: ['States.ALL'], Next: 'C' }] },
      { C: { Type: 'Pass', InputPath: '$.Error', End: true } },
    );
  const end = async (state: object) => (await WorkflowRun.start(definition(state))).finish();
  assert.equal((await end({ Parameters: { 'x.$': '$.no' } })).output, 'States.ParameterPathFailure');
  assert.equal((await end({ ResultSelector: { 'x.$': '$.no' } })).output, 'States.ParameterPathFailure');
  assert.equal(
    (await end({ Parameters: { 'x.$': 'States.ArrayLength(1)' } })).output,
    'States.IntrinsicFailure',
  );
});

test('a timeout is retried with a new deadline', async () => {
  const run = await WorkflowRun.start(
    alone({ ...task, TimeoutSeconds: 10, Retry: [{ ErrorEquals: ['States.Timeout'], IntervalSeconds: 5 }] }),
  );
  await run.passTime();
  assert.deepEqual(run.cancelled, ['0-0']);
  assert.equal(run.due, started + 15_000);
  await run.passTime();
  assert.deepEqual(
    run.tasks.map(({ id }: Task) => id),
    ['0-0', '0-1'],
  );
  assert.equal(run.due, started + 25_000);
  // The first attempt answers late: its answer is ignored.
  await run.send({ type: 'TaskSucceeded', id: '0-0', output: 'late' });
  assert.equal(run.state.status, 'Running');
  assert.deepEqual(run.state.stopping, []);
  await run.send({ type: 'TaskSucceeded', id: '0-1', output: 'right' });
  assert.equal(run.output, 'right');
});

test('a long cause is kept whole in the run, and shortened in the history', async () => {
  const cause = 'x'.repeat(600);
  const run = await WorkflowRun.start(alone(task));
  await run.finish(() => ({ error: 'A', cause }));
  assert.equal(run.state.failure?.cause, cause);
  assert.deepEqual(run.history.at(-1)?.detail, { error: 'A', cause: `${cause.slice(0, 500)}…` });
});
