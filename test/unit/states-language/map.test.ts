/** Map: items, concurrency and tolerated failures. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/states-language/json.ts';
import { alone, errorOf, outputOf, WorkflowRun } from '../../fixtures/workflow-run.ts';
import { map, one } from './children-world.ts';

const echo = ({ input }: { input: Json }) => ({ output: input });

test('Map processes each item, and its outputs are in the order of the items', async () => {
  const run = await WorkflowRun.start(alone(map({ ItemsPath: '$.list' })), { list: ['x', null, 3] });
  assert.deepEqual(
    run.tasks.map(({ id, input }) => [id, input]),
    [
      ['0-0.0.0-0', 'x'],
      ['0-0.1.0-0', null],
      ['0-0.2.0-0', 3],
    ],
  );
  for (const id of ['0-0.2.0-0', '0-0.0.0-0', '0-0.1.0-0'])
    await run.send({ type: 'TaskSucceeded', id, output: id });
  assert.deepEqual(run.output, ['0-0.0.0-0', '0-0.1.0-0', '0-0.2.0-0']);
});

test('more than ten items keep their order', async () => {
  const items = Array.from({ length: 25 }, (_, index) => index);
  assert.deepEqual(await outputOf(map(), items, echo), items);
});

const maps: [name: string, state: object, input: Json, output: Json][] = [
  ['a list as its input', map(), [1, 2], [1, 2]],
  ['an empty list', map(), [], []],
  ['Iterator', { Type: 'Map', Iterator: one('A') }, [1], [1]],
  ['ProcessorConfig', map({}, { ...one('A'), ProcessorConfig: { Mode: 'INLINE' } }), [1], [1]],
  ['InputPath and ItemsPath', map({ InputPath: '$.a', ItemsPath: '$.b' }), { a: { b: [7] } }, [7]],
  ['ItemsPath with several matches', map({ ItemsPath: '$.a[*].b' }), { a: [{ b: 1 }, { b: 2 }] }, [1, 2]],
  ['ItemsPath into the context', map({ ItemsPath: '$$.Execution.Input.l' }), { l: [3] }, [3]],
  [
    'ItemSelector',
    map({
      ItemsPath: '$.l',
      ItemSelector: { 'i.$': '$$.Map.Item.Index', 'v.$': '$$.Map.Item.Value', 'k.$': '$.k' },
    }),
    { l: ['a', 'b'], k: 9 },
    [
      { i: 0, v: 'a', k: 9 },
      { i: 1, v: 'b', k: 9 },
    ],
  ],
  [
    'Parameters, the former name of ItemSelector',
    map({ InputPath: '$.in', ItemsPath: '$.l', Parameters: { 'v.$': '$$.Map.Item.Value', 'k.$': '$.k' } }),
    { in: { l: [1], k: 2 } },
    [{ v: 1, k: 2 }],
  ],
  [
    'ResultSelector and ResultPath',
    map({ ResultSelector: { 'n.$': 'States.ArrayLength($)' }, ItemsPath: '$.l', ResultPath: '$.r' }),
    { l: [1, 2] },
    { l: [1, 2], r: { n: 2 } },
  ],
  [
    'states that read the item of their iteration',
    map({}, one('A', { Parameters: { 'v.$': '$$.Map.Item.Value', 'i.$': '$$.Map.Item.Index' } })),
    ['x'],
    [{ v: 'x', i: 0 }],
  ],
  [
    'an inner Map',
    map(
      {},
      { StartAt: 'M', States: { M: map({}, one('B', { Parameters: { 'v.$': '$$.Map.Item.Value' } })) } },
    ),
    [[1], [2, 3]],
    [[{ v: 1 }], [{ v: 2 }, { v: 3 }]],
  ],
];

for (const [name, state, input, output] of maps)
  test(`a Map with ${name} gives ${JSON.stringify(output)}`, async () =>
    assert.deepEqual(await outputOf(state as Record<string, unknown>, input, echo), output));

const mapFails: [name: string, state: Record<string, unknown>, input: Json, error: string][] = [
  ['its input is not a list', map(), { a: 1 }, 'States.Runtime'],
  ['ItemsPath finds nothing', map({ ItemsPath: '$.l' }), {}, 'States.Runtime'],
  [
    'ItemSelector finds nothing',
    map({ ItemSelector: { 'x.$': '$.no' } }),
    [1],
    'States.ParameterPathFailure',
  ],
  [
    'MaxConcurrencyPath finds no number',
    map({ ItemsPath: '$.l', MaxConcurrencyPath: '$.n' }),
    { l: [1], n: 'x' },
    'States.Runtime',
  ],
  [
    'ToleratedFailurePercentagePath finds a number above 100',
    map({ ItemsPath: '$.l', ToleratedFailurePercentagePath: '$.n' }),
    { l: [1], n: 101 },
    'States.Runtime',
  ],
];

for (const [name, state, input, error] of mapFails)
  test(`a Map fails if ${name}`, async () => assert.equal(await errorOf(state, input), error));

test('MaxConcurrency limits concurrent iterations, and the next starts as soon as one has ended', async () => {
  for (const limit of [{ MaxConcurrency: 2 }, { MaxConcurrencyPath: '$.n' }]) {
    const run = await WorkflowRun.start(alone(map({ ItemsPath: '$.l', ...limit })), {
      l: [1, 2, 3, 4],
      n: 2,
    });
    assert.deepEqual([...run.outstanding.keys()], ['0-0.0.0-0', '0-0.1.0-0']);
    await run.send({ type: 'TaskSucceeded', id: '0-0.1.0-0', output: null });
    assert.deepEqual([...run.outstanding.keys()], ['0-0.0.0-0', '0-0.2.0-0']);
    assert.equal(run.more, false);
    await run.finish(echo);
    assert.deepEqual(run.output, [1, null, 3, 4]);
  }
});

test('MaxConcurrency 1 runs one iteration after the other', async () => {
  const run = await WorkflowRun.start(alone(map({ MaxConcurrency: 1 })), [1, 2, 3]);
  let most = 0;
  await run.finish((task, { outstanding }) => {
    most = Math.max(most, outstanding.size);
    return echo(task);
  });
  assert.deepEqual([most, run.output], [1, [1, 2, 3]]);
});

test('at most forty iterations run at a time, also without MaxConcurrency or with a larger one', async () => {
  const items = Array.from({ length: 60 }, (_, index) => index);
  for (const limit of [{}, { MaxConcurrency: 0 }, { MaxConcurrency: 50 }]) {
    const run = await WorkflowRun.start(alone(map(limit)), items);
    assert.equal(run.outstanding.size, 40);
    await run.finish(echo);
    assert.deepEqual(run.output, items);
  }
});

test('a call runs at most a hundred states of iterations that never wait', async () => {
  const processor = {
    StartAt: 'A',
    States: { A: { Type: 'Pass', Next: 'B' }, B: { Type: 'Pass', End: true } },
  };
  const items = Array.from({ length: 130 }, (_, index) => index);
  const run = await WorkflowRun.start(alone(map({}, processor)), items);
  assert.equal(run.more, true);
  assert.equal(run.entered.length, 100);
  let calls = 1;
  for (; run.more; calls++) await run.send({ type: 'Continue' });
  assert.deepEqual(run.output, items);
  assert.equal(calls, 3);
});

test('a Map that fails within an iteration aborts its iterations, and fails the outer iteration', async () => {
  const inner = { StartAt: 'M', States: { M: map({}, one('B')) } };
  const run = await WorkflowRun.start(alone(map({}, inner)), [[1, 2]]);
  await run.send({ type: 'TaskFailed', id: '0-0.0.0-0.0.0-0', error: 'Mine', cause: '' });
  assert.deepEqual(
    run.history
      .filter(({ type }) => /Iteration(Failed|Aborted)/.test(type))
      .map(({ type, detail }) => [type, detail]),
    [
      ['MapIterationFailed', { index: 0 }],
      ['MapIterationAborted', { index: 1 }],
      ['MapIterationFailed', { index: 0 }],
    ],
  );
});

test('States.BranchFailed does not match the failure of a Map', async () => {
  const definition = alone(map({ Catch: [{ ErrorEquals: ['States.BranchFailed'], Next: 'C' }] }), {
    C: { Type: 'Succeed' },
  });
  const run = await WorkflowRun.start(definition, [1]);
  await run.finish(() => ({ error: 'Mine' }));
  assert.equal(run.error, 'Mine');
});

test('an iteration that fails ends the Map with its error', async () => {
  const run = await WorkflowRun.start(alone(map()), [1, 2, 3]);
  await run.send({ type: 'TaskSucceeded', id: '0-0.0.0-0', output: 1 });
  await run.send({ type: 'TaskFailed', id: '0-0.1.0-0', error: 'Mine', cause: '' });
  assert.equal(run.error, 'Mine');
  assert.deepEqual(run.cancelled, ['0-0.2.0-0']);
  assert.deepEqual(
    run.history
      .filter(({ type }) => type.startsWith('Map'))
      .map(({ type, way, detail }) => [type, way, detail?.index]),
    [
      ['MapStateEntered', undefined, undefined],
      ['MapStateStarted', undefined, undefined],
      ['MapIterationStarted', '0-0.0', 0],
      ['MapIterationStarted', '0-0.1', 1],
      ['MapIterationStarted', '0-0.2', 2],
      ['MapIterationSucceeded', '0-0.0', 0],
      ['MapIterationFailed', '0-0.1', 1],
      ['MapIterationAborted', '0-0.2.0-0', 2],
      ['MapStateFailed', undefined, undefined],
    ],
  );
});

const tolerant: [state: object, failing: number, expected: Json][] = [
  [{ ToleratedFailureCount: 2 }, 2, [3, 4]],
  [{ ToleratedFailureCount: 2 }, 3, 'States.ExceedToleratedFailureThreshold'],
  [{ ToleratedFailureCountPath: '$.n' }, 1, [2, 3, 4]],
  [{ ToleratedFailureCountPath: '$.n' }, 2, 'States.ExceedToleratedFailureThreshold'],
  [{ ToleratedFailurePercentage: 50 }, 2, [3, 4]],
  [{ ToleratedFailurePercentage: 49.9 }, 2, 'States.ExceedToleratedFailureThreshold'],
  [{ ToleratedFailurePercentagePath: '$.p' }, 4, []],
  [
    { ToleratedFailurePercentage: 100, ToleratedFailureCount: 1 },
    2,
    'States.ExceedToleratedFailureThreshold',
  ],
  [{ ToleratedFailurePercentage: 25, ToleratedFailureCount: 3 }, 2, 'States.ExceedToleratedFailureThreshold'],
  [{ ToleratedFailureCount: 0 }, 1, 'States.ExceedToleratedFailureThreshold'],
];

for (const [state, failing, expected] of tolerant)
  test(`a Map with ${JSON.stringify(state)} ${typeof expected === 'string' ? 'fails' : 'succeeds'} if ${failing} of 4 iterations fail`, async () => {
    const run = await WorkflowRun.start(alone(map({ ItemsPath: '$.l', ...state })), {
      l: [1, 2, 3, 4],
      n: 1,
      p: 100,
    });
    await run.finish(({ input }) =>
      Number(input) <= failing ? { error: 'Mine', cause: 'why' } : { output: input },
    );
    if (typeof expected === 'string') assert.equal(run.error, expected);
    else assert.deepEqual(run.output, expected);
  });

test('the cause of a failed Map contains the number of failures and the last failure', async () => {
  const run = await WorkflowRun.start(alone(map({ ToleratedFailureCount: 1 })), [1, 2, 3]);
  await run.finish(() => ({ error: 'Mine', cause: 'why' }));
  assert.equal(
    run.state.failure?.cause,
    '2 of 3 iterations have failed, more than the tolerated 1; the last failure: Mine: why',
  );
});

test('a run that becomes too large to be stored fails, and its tasks are cancelled', async () => {
  const run = await WorkflowRun.start(alone(map({ ItemSelector: { 'all.$': '$' } })), [
    'x'.repeat(100_000),
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
  ]);
  assert.equal(run.error, 'States.DataLimitExceeded');
  assert.match(
    run.state.failure?.cause ?? '',
    /^the state of the run has (?:\d+ bytes of JSON, and may have|more bytes of JSON than) 1048576$/,
  );
  assert.equal(run.state.stopping.length, 12);
  assert.ok(JSON.stringify(run.state).length < 300_000);
});

test('items that have been started are not kept in the list', async () => {
  const run = await WorkflowRun.start(alone(map({ MaxConcurrency: 1, ItemSelector: { x: 1 } })), [
    'first',
    'second',
  ]);
  const { root } = run.state;
  assert.ok(root?.wait.for === 'children');
  assert.deepEqual(root.wait.items, ['second']);
});
