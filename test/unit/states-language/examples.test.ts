/**
 * Workflows of the shapes in the specification and AWS' own guides, run from end to end. The texts are
 * minik8s' own.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { started, type TaskEnd, WorkflowRun } from '../../fixtures/workflow-run.ts';

test('a workflow of one task ends with the output of its function', async () => {
  const run = await WorkflowRun.start({
    Comment: 'one state',
    StartAt: 'Hello',
    States: {
      Hello: { Type: 'Task', Resource: 'arn:aws:lambda:us-east-1:123456789012:function:hello', End: true },
    },
  });
  assert.deepEqual(
    run.tasks.map(({ resource }) => resource),
    [{ type: 'function', name: 'hello' }],
  );
  assert.equal((await run.finish(() => ({ output: 'Hello' }))).output, 'Hello');
});

test('a choice by number takes the state of the rule that matches, or the default, which fails', async () => {
  const definition = {
    StartAt: 'First',
    States: {
      First: { Type: 'Task', Resource: 'function:first', Next: 'Choose' },
      Choose: {
        Type: 'Choice',
        Choices: [
          { Variable: '$.foo', NumericEquals: 1, Next: 'One' },
          { Variable: '$.foo', NumericEquals: 2, Next: 'Two' },
        ],
        Default: 'Neither',
      },
      One: { Type: 'Task', Resource: 'function:one', Next: 'Last' },
      Two: { Type: 'Task', Resource: 'function:two', Next: 'Last' },
      Neither: { Type: 'Fail', Error: 'DefaultStateError', Cause: 'no match' },
      Last: { Type: 'Task', Resource: 'function:last', End: true },
    },
  };
  const path = async (foo: number) =>
    (await (await WorkflowRun.start(definition)).finish(() => ({ output: { foo } }))).entered;
  assert.deepEqual(await path(1), ['First', 'Choose', 'One', 'Last']);
  assert.deepEqual(await path(2), ['First', 'Choose', 'Two', 'Last']);
  assert.deepEqual(await path(3), ['First', 'Choose', 'Neither']);
});

test('a choice decides with Not, with And over a range, and by time', async () => {
  const definition = {
    StartAt: 'Dispatch',
    States: {
      Dispatch: {
        Type: 'Choice',
        Choices: [
          { Not: { Variable: '$.type', StringEquals: 'Private' }, Next: 'Public' },
          {
            And: [
              { Variable: '$.value', IsPresent: true },
              { Variable: '$.value', IsNumeric: true },
              { Variable: '$.value', NumericGreaterThanEquals: 20 },
              { Variable: '$.value', NumericLessThan: 30 },
            ],
            Next: 'InTwenties',
          },
          { Variable: '$.at', TimestampLessThan: '2001-01-01T12:00:00Z', Next: 'Old' },
        ],
        Default: 'Record',
      },
      ...Object.fromEntries(
        ['Public', 'InTwenties', 'Old', 'Record'].map((name) => [
          name,
          { Type: 'Pass', Result: name, End: true },
        ]),
      ),
    },
  };
  const end = async (input: object) => (await WorkflowRun.start(definition, input as never)).output;
  assert.equal(await end({ type: 'Public' }), 'Public');
  assert.equal(await end({ type: 'Private', value: 22 }), 'InTwenties');
  assert.equal(await end({ type: 'Private', value: 20 }), 'InTwenties');
  assert.equal(await end({ type: 'Private', value: 30, at: '2000-01-01T00:00:00Z' }), 'Old');
  assert.equal(await end({ type: 'Private', at: '2001-01-01T12:00:00Z' }), 'Record');
});

test('a Map validates all items of an order, each with a part of the delivery', async () => {
  const run = await WorkflowRun.start(
    {
      StartAt: 'Validate All',
      States: {
        'Validate All': {
          Type: 'Map',
          InputPath: '$.detail',
          ItemsPath: '$.shipped',
          MaxConcurrency: 0,
          ResultPath: '$.detail.shipped',
          ItemSelector: { 'parcel.$': '$$.Map.Item.Value', 'courier.$': '$.delivery-partner' },
          ItemProcessor: {
            StartAt: 'Validate',
            States: { Validate: { Type: 'Task', Resource: 'function:ship-val', End: true } },
          },
          End: true,
        },
      },
    },
    { ship: 'date', detail: { 'delivery-partner': 'UQS', shipped: [{ prod: 'R31' }, { prod: 'S39' }] } },
  );
  assert.deepEqual(
    run.tasks.map(({ input }) => input),
    [
      { parcel: { prod: 'R31' }, courier: 'UQS' },
      { parcel: { prod: 'S39' }, courier: 'UQS' },
    ],
  );
  await run.finish(({ input }) => ({ output: (input as { parcel: { prod: string } }).parcel.prod }));
  assert.deepEqual(run.output, {
    ship: 'date',
    detail: { 'delivery-partner': 'UQS', shipped: ['R31', 'S39'] },
  });
});

test('a Parallel computes the sum and the difference of two numbers', async () => {
  const side = (name: string) => ({
    StartAt: name,
    States: { [name]: { Type: 'Task', Resource: `function:${name.toLowerCase()}`, End: true } },
  });
  const run = await WorkflowRun.start(
    {
      StartAt: 'FunWithMath',
      States: {
        FunWithMath: { Type: 'Parallel', Branches: [side('Add'), side('Subtract')], Next: 'Done' },
        Done: { Type: 'Pass', End: true },
      },
    },
    [3, 2],
  );
  await run.finish(({ state, input }) => {
    const [a, b] = input as [number, number];
    return { output: state === 'Add' ? a + b : a - b };
  });
  assert.deepEqual(run.output, [5, 1]);
});

test('two retriers of one state have separate intervals and counts for their errors', async () => {
  const run = await WorkflowRun.start({
    StartAt: 'X',
    States: {
      X: {
        Type: 'Task',
        Resource: 'function:x',
        Next: 'Y',
        Retry: [
          { ErrorEquals: ['ErrorA', 'ErrorB'], IntervalSeconds: 1, BackoffRate: 2.0, MaxAttempts: 2 },
          { ErrorEquals: ['ErrorC'], IntervalSeconds: 5 },
        ],
        Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Z' }],
      },
      Y: { Type: 'Succeed' },
      Z: { Type: 'Pass', End: true },
    },
  });
  const errors = ['ErrorA', 'ErrorB', 'ErrorC', 'ErrorC', 'ErrorB'];
  const at: number[] = [];
  await run.finish((_, { now }) => {
    at.push((now - started) / 1000);
    return { error: errors.shift() ?? 'none' };
  });
  assert.deepEqual(at, [0, 1, 3, 8, 18]);
  assert.deepEqual(run.output, { Error: 'ErrorB', Cause: '' });
});

test('a payload template may have constants, paths, the context and intrinsic functions', async () => {
  const run = await WorkflowRun.start(
    {
      StartAt: 'X',
      States: {
        X: {
          Type: 'Task',
          Resource: 'function:x',
          Parameters: {
            flagged: true,
            parts: { 'first.$': '$.vals[0]', 'last3.$': '$.vals[-3:]' },
            'weekday.$': '$$.DayOfWeek',
            'formatted.$': "States.Format('Your name is {}, we are in the year {}', $.name, 2020)",
          },
          End: true,
        },
      },
    },
    { vals: [0, 10, 20, 30, 40, 50], name: 'Foo' },
  );
  assert.equal(run.error, 'States.ParameterPathFailure', 'the context has no DayOfWeek');
  const right = await WorkflowRun.start(
    {
      StartAt: 'X',
      States: {
        X: {
          Type: 'Pass',
          Parameters: {
            flagged: true,
            parts: { 'first.$': '$.vals[0]', 'last3.$': '$.vals[-3:]' },
            'state.$': '$$.State.Name',
            'formatted.$': "States.Format('Your name is {}, we are in the year {}', $.name, 2020)",
          },
          End: true,
        },
      },
    },
    { vals: [0, 10, 20, 30, 40, 50], name: 'Foo' },
  );
  assert.deepEqual(right.output, {
    flagged: true,
    parts: { first: 0, last3: [30, 40, 50] },
    state: 'X',
    formatted: 'Your name is Foo, we are in the year 2020',
  });
});

test('a workflow with JSONata polls a job until it is done, and counts in a variable', async () => {
  const run = await WorkflowRun.start({
    QueryLanguage: 'JSONata',
    StartAt: 'Submit',
    States: {
      Submit: {
        Type: 'Task',
        Resource: 'job:submit',
        Assign: { id: '{% $states.result.id %}', polls: 0 },
        Next: 'Wait',
      },
      Wait: { Type: 'Wait', Seconds: '{% 5 * (1 + $polls) %}', Next: 'Ask' },
      Ask: {
        Type: 'Task',
        Resource: 'function:ask',
        Arguments: { id: '{% $id %}' },
        Assign: { polls: '{% $polls + 1 %}' },
        Next: 'Done?',
      },
      'Done?': {
        Type: 'Choice',
        Choices: [{ Condition: '{% $states.input.done %}', Next: 'End' }],
        Default: 'Wait',
      },
      End: { Type: 'Succeed', Output: { polls: '{% $polls %}', id: '{% $id %}' } },
    },
  });
  await run.finish(({ state }, { tasks }): TaskEnd => {
    if (state === 'Submit') return { output: { id: 'j1' } };
    return { output: { done: tasks.length === 4 } };
  });
  assert.deepEqual(run.output, { polls: 3, id: 'j1' });
  assert.equal(run.now - started, 30_000);
  assert.deepEqual(
    run.tasks.slice(1).map(({ input }) => input),
    [{ id: 'j1' }, { id: 'j1' }, { id: 'j1' }],
  );
});
