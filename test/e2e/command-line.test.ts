import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDirectory } from './harness/belongings.ts';

const built = join(import.meta.dirname, '../../dist/minik8s');

function run(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd: '/', env, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

test('one file alone answers, without PATH, home or network, whatever NODE_OPTIONS says', (context) => {
  const directory = makeDirectory('minik8s-alone-');
  context.after(() => rmSync(directory, { recursive: true }));
  const alone = join(directory, 'renamed');
  copyFileSync(built, alone);
  const { status, stdout, stderr } = run(alone, ['version'], { NODE_OPTIONS: '--no-such-option' });
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /^\d+\.\d+\.\d+(\+g[0-9a-f]+(\.dirty)?)?\n$/);
  assert.deepEqual(readdirSync(directory), ['renamed']);
  assert.equal(run(alone, ['--version']).stdout, stdout);
});

test('the version is told without loading the rest', () => {
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now();
    run(built, ['version']);
    return performance.now() - start;
  }).sort((a, b) => a - b);
  // 22 ms alone on two cores, and 120 with everything loaded; the fastest of nine tells them apart on a busy machine.
  assert.ok((times[0] ?? 0) < 60, `${times[0]} ms`);
});

const refused: [args: string[], message: RegExp][] = [
  [[], /^$/],
  [['no-such-command'], /^error: minik8s: unknown command no-such-command; known: .*version/],
  [['version', '--no-such-flag'], /^error: minik8s version: unknown option '--no-such-flag'/],
];
for (const [args, message] of refused) {
  test(`bad usage ends with 2 and one line: minik8s ${args.join(' ')}`, () => {
    const { status, stderr } = run(built, args);
    assert.equal(status, 2);
    assert.match(stderr, message);
    assert.ok(stderr.split('\n').length <= 2, stderr);
  });
}
