/**
 * A definition does not block others: the work of its states is bounded for each state, and divided between
 * calls.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDefinition } from '../../../../src/states-language/definition/check-definition.ts';
import type { Definition } from '../../../../src/states-language/definition/types.ts';
import { excessOf, type Json } from '../../../../src/states-language/json.ts';
import { advance, startRun } from '../../../../src/states-language/run/advance.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const execution = { id: 'run', name: 'run', workflow: { id: 'w', name: 'w' } };
const ports = {
  now: 0,
  random: new SeededRandom(1),
  evaluate: () => Promise.reject(new Error('there is no JSONata here')),
};

function start(definition: object, input: Json) {
  assert.deepEqual(checkDefinition(definition, 'd'), []);
  return startRun(definition as Definition, input, execution, ports);
}

const pass = (Parameters: object) => ({
  StartAt: 'A',
  States: { A: { Type: 'Pass', Parameters, End: true } },
});
const fields = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}.$`, value]));
const list = { l: Array.from({ length: 10_000 }, (_, v) => ({ v })), text: 'x'.repeat(100_000) };
const together = /look at more than 200000 values together/;

const costly: [name: string, definition: object][] = [
  ['paths', pass(fields(1000, '$..none'))],
  ['functions', pass(fields(1000, 'States.ArrayContains($.l, 1)'))],
  ['functions of texts', pass(fields(1000, 'States.JsonToString($.text)'))],
  [
    'rules',
    {
      StartAt: 'A',
      States: {
        A: {
          Type: 'Choice',
          Choices: Array.from({ length: 1000 }, () => ({
            Variable: '$.text',
            StringMatches: '*xy*',
            Next: 'B',
          })),
          Default: 'B',
        },
        B: { Type: 'Succeed' },
      },
    },
  ],
];
for (const [name, definition] of costly)
  test(`a state with very many ${name} fails`, async () => {
    const { state } = await start(definition, list);
    assert.equal(state.status, 'Failed');
    assert.match(state.failure?.cause ?? '', together);
  });

test('a state whose output would have gigabytes fails before it is written', async () => {
  const { state } = await start(pass(fields(5000, '$')), { text: 'x'.repeat(200_000) });
  assert.equal(state.failure?.error, 'States.DataLimitExceeded');
  assert.match(state.failure?.cause ?? '', /has more bytes of JSON than 262144/);
});

test('a value of exactly the maximum size is not too large', () => {
  assert.equal(excessOf(['é'], 6), undefined);
  assert.equal(excessOf(['é'], 5), 'has 6 bytes of JSON, and may have 5');
  assert.equal(excessOf({}, 2), undefined);
});

test('states that read much data are left to a later call, and all are run', async () => {
  const names = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];
  const States = Object.fromEntries(
    names.map((name, at) => [
      name,
      {
        Type: 'Pass',
        Parameters: { 'none.$': '$..none' },
        ResultPath: null,
        ...(at + 1 < names.length ? { Next: names[at + 1] } : { End: true }),
      },
    ]),
  );
  const definition = { StartAt: 'A', States };
  let { state, more } = await start(definition, list);
  assert.equal(state.status, 'Running');
  let calls = 1;
  for (; more; calls++)
    ({ state, more } = await advance(definition as Definition, state, { type: 'Continue' }, ports));
  assert.equal(state.status, 'Succeeded');
  assert.ok(calls > 1 && calls <= names.length, `${calls} calls`);
});

test('iterations with large inputs are started in several calls', async () => {
  const definition = {
    StartAt: 'A',
    States: {
      A: {
        Type: 'Map',
        ItemsPath: '$.l',
        ItemSelector: { 'all.$': '$' },
        ItemProcessor: { StartAt: 'B', States: { B: { Type: 'Pass', Result: 1, End: true } } },
        End: true,
      },
    },
  };
  let { state, more } = await start(definition, { l: Array.from({ length: 30_000 }, (_, at) => at % 10) });
  assert.equal(state.status, 'Running');
  const begun = () => state.events;
  assert.ok(begun() < 60, `${begun()} entries of history after the first call`);
  const before = begun();
  ({ state, more } = await advance(definition as Definition, state, { type: 'Continue' }, ports));
  assert.ok(more && begun() > before, 'the run continues');
});

test('a state that splits long texts very often fails', async () => {
  const { state } = await start(pass(fields(100, "States.StringSplit($.text, 'y')")), list);
  assert.match(state.failure?.cause ?? '', together);
});

test('the size of branches with the same large value is known without serializing them', async () => {
  const branch = (name: string) => ({ StartAt: name, States: { [name]: { Type: 'Pass', End: true } } });
  const Branches = Array.from({ length: 900 }, (_, at) => branch(`B${at}`));
  const definition = { StartAt: 'A', States: { A: { Type: 'Parallel', Branches, End: true } } };
  let { state, more } = await start(definition, list);
  while (more)
    ({ state, more } = await advance(
      definition as unknown as Definition,
      state,
      { type: 'Continue' },
      ports,
    ));
  assert.deepEqual(state.failure, {
    error: 'States.DataLimitExceeded',
    cause: 'the state of the run has more bytes of JSON than 1048576',
  });
});
