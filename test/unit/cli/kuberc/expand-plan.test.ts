import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlagTable } from '../../../../src/cli/flags/flags.ts';
import { expandCommandLine, type FindCommand } from '../../../../src/cli/kuberc/expand-plan.ts';
import type { Preferences } from '../../../../src/cli/kuberc/preferences.ts';

const flags = {
  output: { type: 'string', short: 'o', hint: 'FORMAT', about: 'format' },
  'from-literal': { type: 'string', hint: 'KEY=VALUE', about: 'value; may be repeated' },
  all: { type: 'boolean', short: 'A', about: 'all' },
} as const satisfies FlagTable;

const find: FindCommand = async (words) =>
  words[0] === 'get' || words[0] === 'create' ? { path: words[0], flags } : undefined;

const expanded = (line: string, preferences: Partial<Preferences>) =>
  expandCommandLine(line.split(' '), { aliases: [], overrides: [], ...preferences }, find, assert.fail);

const alias = {
  name: 'g',
  command: 'get',
  prependArgs: ['pods'],
  appendArgs: ['last'],
  flags: [{ name: 'output', default: 'wide' }],
};

test('the words of an alias are put before and after the typed words', async () => {
  assert.deepEqual(await expanded('g web db', { aliases: [alias] }), [
    ...['get', '--output=wide', 'pods', 'web', 'db', 'last'],
  ]);
});

test('a default is added only to a command line without the flag, in any of its forms', async () => {
  const overrides = [{ command: 'create', flags: [{ name: 'from-literal', default: 'z=1' }] }];
  assert.deepEqual(await expanded('create x', { overrides }), ['create', '--from-literal=z=1', 'x']);
  // A flag that may be repeated would have both values.
  assert.deepEqual(await expanded('create x --from-literal=a=b', { overrides }), [
    ...['create', 'x', '--from-literal=a=b'],
  ]);
  for (const given of ['-o json', '-ojson', '-Ao json', '--output=json'])
    assert.equal(
      (await expanded(`g ${given}`, { aliases: [alias] })).includes('--output=wide'),
      false,
      given,
    );
});
