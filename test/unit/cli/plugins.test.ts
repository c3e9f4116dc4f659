import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
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

test('a plugin gets the signals that ask the command to end, except those that the terminal sends it too', async () => {
  for (const [isTTY, names] of [
    [false, ['SIGINT', 'SIGTERM', 'SIGHUP']],
    [true, ['SIGTERM']],
  ] as const)
    for (const name of names) {
      const ready = join(directory, `ready-${name}-${isTTY}`);
      const signals = Object.assign(new EventEmitter(), { stdin: { isTTY } });
      const traps = ['INT', 'TERM', 'HUP'].map((one, at) => `trap 'exit ${at + 10}' ${one}`).join('; ');
      const wait = `${traps}; : > ${ready}; while :; do /bin/sleep 0.1; done`;
      const ended = runPlugin(program(`kubectl-wait-${name}`, wait), [], {}, signals);
      assert.deepEqual(signals.eventNames(), names);
      while (!existsSync(ready)) await setImmediate();
      signals.emit(name, name);
      assert.equal(await ended, { SIGINT: 10, SIGTERM: 11, SIGHUP: 12 }[name]);
      assert.deepEqual(signals.eventNames(), []);
    }
});
