import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findPlugin, runPlugin } from '../../../src/cli/plugins.ts';

const directory = mkdtempSync(join(tmpdir(), 'minik8s-plugins-'));
after(() => rmSync(directory, { recursive: true }));

const program = (name: string, text = 'exit 0') => {
  writeFileSync(join(directory, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(directory, name), 0o755);
  return join(directory, name);
};

test('the plugin with the longest name is found, and gets the words after its name', () => {
  program('kubectl-one');
  const file = program('kubectl-one-two_words');
  const found = findPlugin(directory, ['one', 'two-words', 'three', '--flag']);
  assert.deepEqual(found, { file, args: ['three', '--flag'] });
  assert.deepEqual(findPlugin(directory, ['one', '--flag', 'two-words'])?.args, ['--flag', 'two-words']);
});

test('a word with a slash or another mark is never part of the name of a plugin', () => {
  mkdirSync(join(directory, 'kubectl-x'));
  program('kubectl-x/y');
  for (const word of ['x/y', '../kubectl-one', '-one', '', 'one two'])
    assert.equal(findPlugin(directory, [word]), undefined, word);
});

test('a plugin ends the command with its status, or with 128 and the number of its signal', async () => {
  assert.equal(await runPlugin(program('kubectl-three', 'exit 3'), [], {}), 3);
  assert.equal(await runPlugin(program('kubectl-term', 'kill -TERM $$'), [], {}), 143);
});
