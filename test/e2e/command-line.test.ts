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

test('version is printed without loading the application', () => {
  const fastest = new Map<string, number>();
  const commands = [['version'], ['up', '--help']];
  // Each in turn, so that a busy machine is as busy for one as for the other.
  for (let round = 0; round < 9; round++) {
    for (const args of commands) {
      const start = performance.now();
      assert.equal(run(built, args).status, 0);
      const ms = performance.now() - start;
      fastest.set(args[0] ?? '', Math.min(ms, fastest.get(args[0] ?? '') ?? ms));
    }
  }
  const [version = 0, up = 0] = commands.map(([name = '']) => fastest.get(name));
  assert.ok(version < up / 2, `${version} ms, and with everything loaded ${up} ms`);
});

test('the executable has the licences of what is in it', () => {
  const { status, stdout } = run(built, ['licenses']);
  assert.equal(status, 0);
  assert.match(stdout, /\n@kubernetes\/client-node [\d.]+\n\nApache License/);
});

const refused: [args: string[], message: RegExp][] = [
  [[], /^$/],
  [
    ['no-such-command'],
    /^error: minik8s: unknown command no-such-command; (known: .*version|see minik8s --help)/,
  ],
  [['version', '--no-such-flag'], /^error: minik8s version: unknown flag --no-such-flag/],
];
for (const [args, message] of refused) {
  test(`bad usage ends with 2 and one line: minik8s ${args.join(' ')}`, () => {
    const { status, stderr } = run(built, args);
    assert.equal(status, 2);
    assert.match(stderr, message);
    assert.ok(stderr.split('\n').length <= 2, stderr);
  });
}
