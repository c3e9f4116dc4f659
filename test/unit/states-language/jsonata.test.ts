/** States with JSONata, and the functions that the States Language adds to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/states-language/json.ts';
import { evaluateHere, expressionProblem } from '../../../src/states-language/jsonata/language.ts';
import { started, type TaskEnd, WorkflowRun } from '../../fixtures/workflow-run.ts';

const ask = (expression: string, bindings: Record<string, Json> = {}, seed = 1) =>
  evaluateHere({ expression, bindings, now: started, seed });

const values: [expression: string, value: Json][] = [
  ['1 + 2', 3],
  ['$x.a[b > 1].b', [2, 3]],
  ['$states.input & "!"', 'in!'],
  ['null', null],
  ['[]', []],
  ['[1..3]', [1, 2, 3]],
  ['{"a": [1]}', { a: [1] }],
  ['$partition([1,2,3,4], 3)', [[1, 2, 3], [4]]],
  ['$range(1, 9, 2)', [1, 3, 5, 7, 9]],
  ['$hash("input data", "SHA-1")', 'aaff4a450a104cd177d28d18d74485e8cae074b7'],
  ['$parse("{\\"a\\":[1]}")', { a: [1] }],
  ['$parse("{\\"a\\":[1]}").a', [1]],
  ['$random(5) = $random(5)', true],
  ['$random(5) = $random(6)', false],
  ['$random() = $random()', false],
  ['$millis()', started],
  ['$now()', '2026-03-14T01:59:00.000Z'],
  ['$now("[Y]")', '2026'],
  ['$count($shuffle([1,2,3,4,5]))', 5],
  ['$sort($shuffle([1,2,3,4,5]))', [1, 2, 3, 4, 5]],
  ['$map([1,2], function($v) { $v * 2 })', [2, 4]],
];
for (const [expression, value] of values)
  test(`the expression ${expression} is ${JSON.stringify(value)}`, async () =>
    assert.deepEqual(
      await ask(expression, { x: { a: [{ b: 1 }, { b: 2 }, { b: 3 }] }, states: { input: 'in' } }),
      value,
    ));

const refused: [expression: string, why: RegExp][] = [
  ['$missing', /the expression has no value/],
  ['$states.nothing', /the expression has no value/],
  ['1 +', /Unexpected end of expression/],
  ['"a" + 1', /left side of the "\+" operator must evaluate to a number \(at character \d+\)/],
  ['$eval("1")', /\$eval is not part of the States Language/],
  ['function($x) { $x }', /the value is a function/],
  ['[function($x) { $x }]', /the value is a function/],
  ['{"a": $sum}', /the value is a function/],
  ['$range(1, 2000, 1)', /2000 items, and may have 1000/],
  ['$hash("a", "SHA")', /the algorithm is one of/],
  ['$parse("{")', /the text is not JSON/],
  ['$error("mine")', /mine/],
  ['($f := function() { $f() + 1 }; $f())', /stack|depth/i],
];
for (const [expression, why] of refused)
  test(`the expression ${expression} fails`, () =>
    assert.rejects(ask(expression), (error) => error instanceof Error && why.test(error.message)));

test('random values are generated from the seed', async () => {
  for (const expression of ['$random()', '$uuid()', '$shuffle([1..20])']) {
    assert.deepEqual(await ask(expression, {}, 7), await ask(expression, {}, 7));
    assert.notDeepEqual(await ask(expression, {}, 7), await ask(expression, {}, 8));
  }
  assert.match(
    String(await ask('$uuid()')),
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});

test('an expression is invalid if it cannot be parsed, is too long or has too many signs %', () => {
  assert.equal(expressionProblem('$states.input.a'), undefined);
  assert.match(expressionProblem('$states.') ?? '', /Unexpected end of expression \(at character 8\)/);
  assert.equal(expressionProblem(`${'1 % '.repeat(100)}1`), undefined);
  assert.equal(expressionProblem(`${'1 % '.repeat(101)}1`), 'has more than 100 times the sign %');
  assert.match(expressionProblem('('.repeat(8000)) ?? '', /./);
  assert.match(expressionProblem(`"${'x'.repeat(8192)}"`) ?? '', /is longer than 8192 characters/);
});

const machine = (states: object, StartAt = 'S') => ({ QueryLanguage: 'JSONata', StartAt, States: states });
const one = (state: object, more: object = {}) => machine({ S: state, ...more });
const input = { a: 1, list: [3, 4], at: '2026-03-14T02:00:00Z' };
const task = { Type: 'Task', Resource: 'function:f', End: true };
const answer = (): TaskEnd => ({ output: { r: 5 } });

const outputs: [name: string, state: object, output: Json][] = [
  ['Pass without Output', { Type: 'Pass', End: true }, input],
  [
    'Pass with Output',
    {
      Type: 'Pass',
      Output: { x: '{% $states.input.a + 1 %}', y: ['{% $states.input.list %}', 'plain'] },
      End: true,
    },
    { x: 2, y: [[3, 4], 'plain'] },
  ],
  ['Output as one expression', { Type: 'Pass', Output: '{%$states.input.list[0]%}', End: true }, 3],
  ['Output that is not an expression', { Type: 'Pass', Output: 7, End: true }, 7],
  [
    'Pass with the context',
    { Type: 'Pass', Output: '{% $states.context.State.Name & $states.context.Execution.Id %}', End: true },
    'Sruns/one',
  ],
  ['Succeed with Output', { Type: 'Succeed', Output: '{% $states.input.a %}' }, 1],
  ['Task without Output', task, { r: 5 }],
  ['Task with Output', { ...task, Output: '{% $states.result.r + $states.input.a %}' }, 6],
  [
    'Wait with Output',
    { Type: 'Wait', Seconds: '{% $states.input.a %}', Output: '{% $states.input.a %}', End: true },
    1,
  ],
  ['Wait until', { Type: 'Wait', Timestamp: '{% $states.input.at %}', End: true }, input],
  [
    'Parallel with Arguments',
    {
      Type: 'Parallel',
      Arguments: { x: '{% $states.input.a %}' },
      Branches: [{ StartAt: 'B', States: { B: { Type: 'Pass', End: true } } }],
      End: true,
    },
    [{ x: 1 }],
  ],
  [
    'Map with Items and ItemSelector',
    {
      Type: 'Map',
      Items: '{% $states.input.list %}',
      ItemSelector: {
        v: '{% $states.context.Map.Item.Value %}',
        i: '{% $states.context.Map.Item.Index %}',
        a: '{% $states.input.a %}',
      },
      ItemProcessor: { StartAt: 'B', States: { B: { Type: 'Pass', End: true } } },
      End: true,
    },
    [
      { v: 3, i: 0, a: 1 },
      { v: 4, i: 1, a: 1 },
    ],
  ],
  [
    'Map with a list of Items',
    {
      Type: 'Map',
      Items: [1, '{% $states.input.a + 1 %}'],
      MaxConcurrency: '{% $states.input.a %}',
      ItemProcessor: { StartAt: 'B', States: { B: { Type: 'Pass', End: true } } },
      End: true,
    },
    [1, 2],
  ],
];
for (const [name, state, output] of outputs)
  test(`with JSONata, ${name} gives ${JSON.stringify(output)}`, async () => {
    const run = await WorkflowRun.start(one(state), input);
    assert.deepEqual((await run.finish(answer)).output, output);
  });

test('a Task with JSONata is started with its Arguments and its times', async () => {
  const run = await WorkflowRun.start(
    one({
      ...task,
      Arguments: { x: '{% $states.input.a %}' },
      TimeoutSeconds: '{% 10 * 2 %}',
      HeartbeatSeconds: 5,
      Credentials: { r: '{% $states.input.a %}' },
    }),
    input,
  );
  assert.deepEqual(
    run.tasks.map(({ input: given, timeoutSeconds, heartbeatSeconds, credentials }) => [
      given,
      timeoutSeconds,
      heartbeatSeconds,
      credentials,
    ]),
    [[{ x: 1 }, 20, 5, { r: 1 }]],
  );
});

test('a Choice with Conditions uses Output and Assign of the rule that matches, or else of the state', async () => {
  const show = { Type: 'Pass', Output: { in: '{% $states.input %}', v: '{% $v %}' }, End: true };
  const definition = one(
    {
      Type: 'Choice',
      Choices: [
        {
          Condition: '{% $states.input.n = 1 %}',
          Next: 'A',
          Output: 'of the rule',
          Assign: { v: '{% $states.input.n %}' },
        },
        { Condition: '{% $states.input.n = 2 %}', Next: 'A', Assign: { v: 'second' } },
        { Condition: '{% $states.input.n = 4 %}', Next: 'A', Output: null, Assign: { v: 'none' } },
        { Condition: false, Next: 'A' },
      ],
      Default: 'A',
      Output: 'of the state',
      Assign: { v: 'default' },
    },
    { A: show },
  );
  const end = async (n: number) => (await WorkflowRun.start(definition, { n })).output;
  assert.deepEqual(await end(1), { in: 'of the rule', v: 1 });
  assert.deepEqual(await end(2), { in: 'of the state', v: 'second' });
  assert.deepEqual(await end(3), { in: 'of the state', v: 'default' });
  assert.deepEqual(await end(4), { in: null, v: 'none' });
});

test('a Fail with JSONata evaluates its Error and its Cause', async () => {
  const run = await WorkflowRun.start(
    one({ Type: 'Fail', Error: '{% "E" & $states.input.a %}', Cause: '{% $states.input.list %}' }),
    input,
  );
  assert.deepEqual(run.state.failure, { error: 'E1', cause: '[3,4]' });
});

test('Catch with JSONata evaluates Output and Assign with $states.errorOutput', async () => {
  const definition = (catcher: object) =>
    one(
      { ...task, Catch: [{ ErrorEquals: ['Mine'], Next: 'C', ...catcher }] },
      {
        C: {
          Type: 'Pass',
          Output: { in: '{% $states.input %}', e: '{% $exists($e) ? $e : null %}' },
          End: true,
        },
      },
    );
  const end = async (catcher: object) =>
    (
      await (
        await WorkflowRun.start(definition(catcher), { a: 1 })
      ).finish(() => ({ error: 'Mine', cause: 'why' }))
    ).output;
  assert.deepEqual(await end({}), { in: { Error: 'Mine', Cause: 'why' }, e: null });
  assert.deepEqual(
    await end({
      Output: '{% $merge([$states.input, {"e": $states.errorOutput.Error}]) %}',
      Assign: { e: '{% $states.errorOutput.Cause %}' },
    }),
    {
      in: { a: 1, e: 'Mine' },
      e: 'why',
    },
  );
});

test('variables are assigned and read with JSONata', async () => {
  const real = await WorkflowRun.start(
    machine(
      {
        A: { Type: 'Pass', Assign: { x: '{% $states.input.a %}', y: [1, '{% 1 + 1 %}'] }, Next: 'B' },
        B: { Type: 'Task', Resource: 'function:f', Assign: { z: '{% $states.result.r %}' }, Next: 'C' },
        C: { Type: 'Pass', Output: '{% $x + $y[1] + $z %}', End: true },
      },
      'A',
    ),
    input,
  );
  assert.equal((await real.finish(answer)).output, 8);
});

const failing: [name: string, state: object, error: string][] = [
  [
    'an expression without a value',
    { Type: 'Pass', Output: '{% $states.input.no %}', End: true },
    'States.QueryEvaluationError',
  ],
  [
    'an expression that fails',
    { Type: 'Pass', Assign: { x: '{% 1 + "a" %}' }, End: true },
    'States.QueryEvaluationError',
  ],
  [
    'a Condition that is not a boolean',
    { Type: 'Choice', Choices: [{ Condition: '{% 1 %}', Next: 'E' }], Default: 'E' },
    'States.QueryEvaluationError',
  ],
  ['invalid Seconds', { Type: 'Wait', Seconds: '{% "1" %}', End: true }, 'States.Runtime'],
  ['an invalid Timestamp', { Type: 'Wait', Timestamp: '{% "x" %}', End: true }, 'States.Runtime'],
  [
    'Items that are not a list',
    {
      Type: 'Map',
      Items: '{% 5 %}',
      ItemProcessor: { StartAt: 'B', States: { B: { Type: 'Pass', End: true } } },
      End: true,
    },
    'States.Runtime',
  ],
];
for (const [name, state, error] of failing)
  test(`with JSONata, a state with ${name} fails`, async () => {
    const choice = 'Choices' in state ? { E: { Type: 'Succeed' } } : {};
    const run = await WorkflowRun.start(one(state, choice), input);
    assert.equal((await run.finish()).error, error);
  });

test('the error of an expression names the expression, and can be caught', async () => {
  const definition = one(
    { ...task, Arguments: '{% $no %}', Catch: [{ ErrorEquals: ['States.QueryEvaluationError'], Next: 'C' }] },
    { C: { Type: 'Pass', End: true } },
  );
  const run = await WorkflowRun.start(definition);
  assert.deepEqual(run.output, {
    Error: 'States.QueryEvaluationError',
    Cause: '$no: the expression has no value',
  });
});

test('in a workflow with JSONPath, a text in {% %} is an expression only in states with JSONata', async () => {
  const run = await WorkflowRun.start({
    StartAt: 'A',
    States: {
      A: { Type: 'Pass', Result: { x: '{% 1 %}' }, ResultPath: '$.r', Assign: { v: 4 }, Next: 'B' },
      B: {
        Type: 'Pass',
        QueryLanguage: 'JSONata',
        Output: { r: '{% $states.input.r.x %}', v: '{% $v + 1 %}' },
        Next: 'C',
      },
      C: { Type: 'Pass', Parameters: { 'x.$': '$.r', 'v.$': '$.v' }, End: true },
    },
  });
  assert.deepEqual(run.output, { x: '{% 1 %}', v: 5 });
});
