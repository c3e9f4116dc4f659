/** The question to the user, in a terminal and without one. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExecError, systemExec } from '../../../src/os/exec.ts';
import { Terminal } from '../../fixtures/terminal.ts';

const source = join(import.meta.dirname, '../../../src/roles/confirmation.ts');
const code = [
  `import { confirmed } from ${JSON.stringify(source)};`,
  'const answer = await confirmed("Do this?", "give --yes");',
  'console.log("answer " + answer);',
].join(' ');
const program = [process.execPath, '--input-type=module', '--eval', code];

for (const [typed, expected] of [
  ['y\r', true],
  ['YES\r', true],
  ['  yes \r', true],
  ['\r', false],
  ['n\r', false],
  ['yesterday\r', false],
] as const)
  test(`at a terminal, ${JSON.stringify(typed)} is ${expected ? 'yes' : 'no'}`, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'confirmation-'));
    try {
      const terminal = new Terminal(directory, program);
      await terminal.prints(/Do this\? \[y\/N\] /);
      terminal.type(typed);
      assert.match(await terminal.end(), new RegExp(`^answer ${expected}\\r$`, 'm'));
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

test('without a terminal no question is asked, and the error names the flag', async () => {
  const [file = '', ...args] = program;
  await assert.rejects(systemExec(file, args, { input: 'y\n' }), (error: unknown) => {
    assert.ok(error instanceof ExecError);
    assert.match(error.failure.stderr, /UsageError: give --yes/);
    assert.equal(error.failure.stdout, '');
    return true;
  });
});
