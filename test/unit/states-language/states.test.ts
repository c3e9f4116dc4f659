/** Pass, Succeed, Fail, Wait and Choice, the variables of states, and the limits of a run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/states-language/json.ts';
import { alone, errorOf, outputOf, started, WorkflowRun } from '../../fixtures/workflow-run.ts';
import { answer, input, task, wait } from './states-world.ts';

const passes: [name: string, state: object, output: Json][] = [
  ['no other field', {}, input],
  ['Result', { Result: { x: 0 } }, { x: 0 }],
  ['a Result that looks like a template', { Result: { 'x.$': '$.a' } }, { 'x.$': '$.a' }],
  ['Result null', { Result: null }, null],
  ['Result with ResultPath', { Result: 9, ResultPath: '$.b.d' }, { ...input, b: { ...input.b, d: 9 } }],
  ['Result with ResultPath null', { Result: 9, ResultPath: null }, input],
  ['InputPath', { InputPath: '$.b' }, input.b],
  ['InputPath null', { InputPath: null }, {}],
  ['InputPath with several matches', { InputPath: '$.b.c[1:]' }, [2, 3]],
  ['InputPath with ResultPath', { InputPath: '$.b.c', ResultPath: '$.a' }, { ...input, a: [1, 2, 3] }],
  ['OutputPath', { OutputPath: '$.b.c[0]' }, 1],
  ['OutputPath null', { OutputPath: null }, {}],
  ['InputPath and OutputPath', { InputPath: '$.b', OutputPath: '$.c' }, [1, 2, 3]],
  [
    'Parameters',
    { Parameters: { 'x.$': '$.a', y: '$.a', list: [{ 'z.$': '$.text' }] } },
    { x: 1, y: '$.a', list: [{ z: 'x' }] },
  ],
  ['Parameters of the InputPath', { InputPath: '$.b', Parameters: { 'x.$': '$.c' } }, { x: [1, 2, 3] }],
  [
    'Parameters with ResultPath',
    { Parameters: { 'x.$': '$.a' }, ResultPath: '$.p' },
    { ...input, p: { x: 1 } },
  ],
  [
    'Parameters with an intrinsic function',
    { Parameters: { 'x.$': "States.Format('{}!', $.text)" } },
    { x: 'x!' },
  ],
  ['Parameters with several matches', { Parameters: { 'x.$': '$..c' } }, { x: [[1, 2, 3]] }],
  ['a parameter that has .$ within its name', { Parameters: { 'a.$b': 1 } }, { 'a.$b': 1 }],
  [
    'Parameters from the context',
    { Parameters: { 'n.$': '$$.State.Name', 'e.$': '$$.Execution.Name', 'w.$': '$$.StateMachine.Name' } },
    { n: 'S', e: 'one', w: 'w' },
  ],
  [
    'Parameters from the input in the context',
    { Parameters: { 'i.$': '$$.Execution.Input.a', 'id.$': '$$.Execution.Id' } },
    { i: 1, id: 'runs/one' },
  ],
  [
    'Parameters from the start times in the context',
    { Parameters: { 's.$': '$$.Execution.StartTime', 'e.$': '$$.State.EnteredTime' } },
    { s: '2026-03-14T01:59:00.000Z', e: '2026-03-14T01:59:00.000Z' },
  ],
  ['Parameters from the retries in the context', { Parameters: { 'r.$': '$$.State.RetryCount' } }, { r: 0 }],
];

for (const [name, state, output] of passes)
  test(`a Pass with ${name} gives ${JSON.stringify(output)}`, async () =>
    assert.deepEqual(await outputOf({ Type: 'Pass', ...state }, input), output));

const failing: [name: string, state: object, error: string][] = [
  ['its InputPath finds nothing', { InputPath: '$.missing' }, 'States.Runtime'],
  ['its OutputPath finds nothing', { OutputPath: '$.missing' }, 'States.Runtime'],
  ['its Parameters find nothing', { Parameters: { 'x.$': '$.missing' } }, 'States.ParameterPathFailure'],
  ['a variable is not assigned', { Parameters: { 'x.$': '$v' } }, 'States.ParameterPathFailure'],
  ['a function fails', { Parameters: { 'x.$': 'States.ArrayLength($.a)' } }, 'States.IntrinsicFailure'],
  ['its ResultPath does not fit the input', { ResultPath: '$.a.x' }, 'States.ResultPathMatchFailure'],
  ['its ResultPath is past the end of a list', { ResultPath: '$.b.c[3]' }, 'States.ResultPathMatchFailure'],
];

for (const [name, state, error] of failing)
  test(`a Pass fails if ${name}`, async () =>
    assert.equal(await errorOf({ Type: 'Pass', ...state }, input), error));

test('data that is too large, or too deep, fails a state', async () => {
  const large = 'x'.repeat(200 * 1024);
  const double = { Type: 'Pass', Parameters: { 'x.$': '$', 'y.$': '$' } };
  assert.equal(await errorOf(double, large), 'States.DataLimitExceeded');
  assert.equal(await outputOf({ Type: 'Pass' }, large), large);
  const deeper = { Type: 'Pass', Parameters: { 'x.$': '$' }, Next: 'S' };
  const run = await WorkflowRun.start({
    StartAt: 'S',
    States: {
      S: { ...deeper, Next: 'C' },
      C: { Type: 'Choice', Choices: [{ Variable: '$.never', IsPresent: true, Next: 'E' }], Default: 'S' },
      E: { Type: 'Succeed' },
    },
  });
  await run.finish();
  assert.equal(run.error, 'States.DataLimitExceeded');
  assert.match(run.state.failure?.cause ?? '', /more than 200 levels deep/);
});

test('an input that is too large ends the run before it begins, and is not kept', async () => {
  const run = await WorkflowRun.start(alone({ Type: 'Succeed' }), 'x'.repeat(256 * 1024));
  assert.equal(run.error, 'States.DataLimitExceeded');
  assert.equal(run.state.input, null);
  assert.deepEqual(
    run.commands.map(({ type }) => type),
    ['failed'],
  );
  const most = 'x'.repeat(256 * 1024 - 2);
  assert.equal((await WorkflowRun.start(alone({ Type: 'Succeed' }), most)).output, most);
});

test('Succeed applies InputPath and OutputPath', async () => {
  const run = await WorkflowRun.start(alone({ Type: 'Succeed', InputPath: '$.b', OutputPath: '$.c' }), input);
  assert.deepEqual(run.output, [1, 2, 3]);
  assert.deepEqual(run.commands, [{ type: 'done', output: [1, 2, 3] }]);
});

const fails: [state: object, error: string, cause: string][] = [
  [{ Error: 'Mine', Cause: 'because' }, 'Mine', 'because'],
  [{}, '', ''],
  [{ ErrorPath: '$.text', CausePath: "States.Format('a is {}', $.a)" }, 'x', 'a is 1'],
  [{ ErrorPath: '$$.State.Name', CausePath: '$.b' }, 'S', '{"c":[1,2,3]}'],
];

for (const [state, error, cause] of fails)
  test(`a Fail with ${JSON.stringify(state)} ends the run with its error and its cause`, async () => {
    const run = await WorkflowRun.start(alone({ Type: 'Fail', ...state }), input);
    assert.deepEqual(run.state.failure, { error, cause });
    assert.deepEqual(run.commands, [{ type: 'failed', status: 'Failed', error, cause }]);
    assert.equal(run.state.root, undefined);
  });

const waits: [state: object, input: Json, ms: number][] = [
  [{ Seconds: 10 }, {}, 10_000],
  [{ SecondsPath: '$.s' }, { s: 7 }, 7000],
  [{ Timestamp: '2026-03-14T02:00:00Z' }, {}, 60_000],
  [{ TimestampPath: '$.at' }, { at: '2026-03-14T02:59:30+01:00' }, 30_000],
  [{ TimestampPath: '$.at' }, { at: '2026-03-14T01:59:00.0005Z' }, 1],
];

for (const [state, given, ms] of waits)
  test(`a Wait with ${JSON.stringify(state)} ends after ${ms} ms`, async () => {
    const run = await WorkflowRun.start(wait(state), given);
    assert.deepEqual(run.commands, [{ type: 'setTimer', due: started + ms }]);
    run.now += ms - 1;
    await run.send({ type: 'Time' });
    assert.equal(run.state.status, 'Running');
    run.now += 1;
    await run.send({ type: 'Time' });
    assert.deepEqual(run.output, given);
  });

test('a Wait of 0 seconds does not wait', async () => {
  for (const state of [
    { Seconds: 0 },
    { Timestamp: '2026-03-14T01:59:00Z' },
    { Timestamp: '2001-01-01T00:00:00Z' },
  ])
    assert.equal((await WorkflowRun.start(wait(state))).state.status, 'Succeeded');
});

test('a Wait applies its paths, and assigns variables', async () => {
  const whole = await WorkflowRun.start(
    alone(
      {
        Type: 'Wait',
        Seconds: 1,
        InputPath: '$.b',
        OutputPath: '$.c',
        Assign: { 'v.$': '$.c[0]' },
        Next: 'P',
      },
      { P: { Type: 'Pass', Parameters: { 'in.$': '$', 'v.$': '$v' }, End: true } },
    ),
    input,
  );
  await whole.finish();
  assert.deepEqual(whole.output, { in: [1, 2, 3], v: 1 });
});

for (const [state, given] of [
  [{ SecondsPath: '$.s' }, { s: -1 }],
  [{ SecondsPath: '$.s' }, { s: 1.5 }],
  [{ SecondsPath: '$.s' }, { s: '1' }],
  [{ SecondsPath: '$.s' }, { s: 1e12 }],
  [{ SecondsPath: '$.s' }, {}],
  [{ TimestampPath: '$.s' }, { s: 'tomorrow' }],
  [{ TimestampPath: '$.s' }, { s: 5 }],
] as [object, Json][])
  test(`a Wait with ${JSON.stringify(state)} fails for the input ${JSON.stringify(given)}`, async () =>
    assert.equal(await errorOf({ Type: 'Wait', ...state }, given), 'States.Runtime'));

const rule = { Variable: '$.a', NumericEquals: 1, Next: 'Yes' };

const ends = {
  Yes: { Type: 'Pass', Result: 'yes', End: true },
  No: { Type: 'Pass', Result: 'no', End: true },
};

test('Choice uses the first rule that matches, or Default', async () => {
  const definition = alone(
    { Type: 'Choice', Choices: [rule, { ...rule, NumericEquals: 2 }], Default: 'No' },
    ends,
  );
  assert.equal((await WorkflowRun.start(definition, { a: 1 })).output, 'yes');
  assert.equal((await WorkflowRun.start(definition, { a: 3 })).output, 'no');
  const second = alone(
    { Type: 'Choice', Choices: [rule, { Not: { Variable: '$.a', IsNull: true }, Next: 'No' }] },
    ends,
  );
  assert.equal((await WorkflowRun.start(second, { a: 2 })).output, 'no');
});

test('Choice without Default fails when no rule matches', async () => {
  const run = await WorkflowRun.start(alone({ Type: 'Choice', Choices: [rule] }, { Yes: ends.Yes }), {
    a: 2,
  });
  assert.equal(run.error, 'States.NoChoiceMatched');
});

test('Choice applies its paths, and assigns the variables of the rule that matches, or else of the state', async () => {
  const show = { Type: 'Pass', Parameters: { 'in.$': '$', 'v.$': '$v' }, End: true };
  const definition = alone(
    {
      Type: 'Choice',
      InputPath: '$.b',
      OutputPath: '$.a',
      Choices: [{ ...rule, Assign: { 'v.$': '$.a' } }],
      Default: 'No',
      Assign: { v: 'default' },
    },
    { Yes: show, No: show },
  );
  assert.deepEqual((await WorkflowRun.start(definition, { b: { a: 1 } })).output, { in: 1, v: 1 });
  assert.deepEqual((await WorkflowRun.start(definition, { b: { a: 2 } })).output, { in: 2, v: 'default' });
});

test('variables are assigned together, from their earlier values, and are visible in later states', async () => {
  const show = {
    Type: 'Pass',
    Parameters: { 'x.$': '$x', 'y.$': '$y', 'r.$': '$r.deep.x[0]', 'f.$': "States.Format('{}', $x)" },
    End: true,
  };
  const run = await WorkflowRun.start(
    {
      StartAt: 'A',
      States: {
        A: { Type: 'Pass', Assign: { x: 1, 'y.$': '$.a' }, Next: 'B' },
        B: { Type: 'Pass', Assign: { 'x.$': '$y', 'y.$': '$x' }, Result: { a: 7 }, Next: 'C' },
        C: { ...task, ResultSelector: { s: 1 }, Assign: { 'r.$': '$' }, Next: 'D' },
        D: show,
      },
    },
    { a: 5 },
  );
  await run.finish(answer);
  assert.deepEqual(run.output, { x: 5, y: 1, r: 4, f: '5' });
});

test('a path of a state that finds nothing fails the run with States.Runtime, which cannot be caught', async () => {
  const run = await WorkflowRun.start({
    StartAt: 'A',
    States: {
      A: { Type: 'Pass', Assign: { x: 1 }, Next: 'B' },
      B: {
        ...task,
        Assign: { x: 2 },
        OutputPath: '$.missing',
        Catch: [{ ErrorEquals: ['States.ALL'], Next: 'C' }],
        Next: 'C',
      },
      C: { Type: 'Pass', Parameters: { 'x.$': '$x' }, End: true },
    },
  });
  await run.finish();
  // A path of the state that matches nothing is States.Runtime, which cannot be caught.
  assert.equal(run.error, 'States.Runtime');
  assert.equal(
    run.history.some(({ type }) => type === 'ErrorCaught'),
    false,
  );
});

test('a call runs at most a hundred states that never wait, and the run fails when its history is full', async () => {
  const run = await WorkflowRun.start({
    StartAt: 'A',
    States: {
      A: { Type: 'Pass', Next: 'B' },
      B: { Type: 'Choice', Choices: [{ Variable: '$.a', IsPresent: true, Next: 'C' }], Default: 'A' },
      C: { Type: 'Succeed' },
    },
  });
  assert.equal(run.more, true);
  assert.equal(run.entered.length, 100);
  assert.deepEqual(run.commands, [{ type: 'continue' }]);
  await run.send({ type: 'Continue' });
  assert.equal(run.entered.length, 200);
  await run.finish();
  assert.equal(run.error, 'States.Runtime');
  assert.match(run.state.failure?.cause ?? '', /more than 25000 entries of history/);
});

test('the history of a run has each state, in order, with the time', async () => {
  const run = await WorkflowRun.start({
    StartAt: 'A',
    States: { A: { Type: 'Wait', Seconds: 3, Next: 'B' }, B: { ...task, Next: 'C' }, C: { Type: 'Succeed' } },
  });
  await run.finish();
  assert.deepEqual(
    run.history.map(({ id, time, type, state = '', way = '' }) =>
      [id, time - started, type, state, way].join(' '),
    ),
    [
      '1 0 ExecutionStarted  ',
      '2 0 WaitStateEntered A ',
      '3 3000 WaitStateExited A ',
      '4 3000 TaskStateEntered B ',
      '5 3000 TaskScheduled B 1-0',
      '6 3000 TaskSucceeded B 1-0',
      '7 3000 TaskStateExited B ',
      '8 3000 SucceedStateEntered C ',
      '9 3000 SucceedStateExited C ',
      '10 3000 ExecutionSucceeded  ',
    ],
  );
  assert.deepEqual(run.history[4]?.detail, { resource: 'function:f' });
});
