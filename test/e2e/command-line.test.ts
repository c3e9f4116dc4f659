import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { samplePaths } from '../../config/build/samples.ts';
import { makeDirectory } from './harness/belongings.ts';

const built = join(import.meta.dirname, '../../dist/minik8s');
/** The bundles that the build put into the file. */
const bundles = join(import.meta.dirname, '../../dist/bundle');

function run(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd: '/', env, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

test('the single file runs without PATH, home or network, and with any value of NODE_OPTIONS', (context) => {
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

test('version loads no application, and the client is loaded without the servers', (context) => {
  const directory = makeDirectory('minik8s-broken-');
  context.after(() => rmSync(directory, { recursive: true }));
  const bytes = readFileSync(built);
  // Overwrites the beginning of the servers' application, as source and as compiled code.
  for (const [name, instead] of [
    ['server.cjs', '(()=>{throw Error("it was loaded");   '],
    ['server.cache', '\0'.repeat(64)],
  ] as const) {
    const at = bytes.indexOf(readFileSync(join(bundles, name)).subarray(0, 4096));
    assert.ok(at > 0, `${name} is in the file`);
    bytes.write(instead, at, 'latin1');
  }
  const broken = join(directory, 'minik8s');
  writeFileSync(broken, bytes, { mode: 0o755 });
  for (const args of [['version'], ['ctl', 'get', '--help']]) {
    assert.deepEqual(run(broken, args), run(built, args), args.join(' '));
  }
  const { status, stderr } = run(broken, ['up', '--help']);
  assert.notEqual(status, 0);
  assert.match(stderr, /it was loaded/);
});

test('the executable contains the licences of its parts', () => {
  const { status, stdout } = run(built, ['licenses']);
  assert.equal(status, 0);
  assert.match(stdout, /\n@kubernetes\/client-node [\d.]+\n\nApache License/);
});

test('samples writes the files of the repository that the pages of docs use, byte for byte', async (context) => {
  const directory = makeDirectory('minik8s-samples-');
  context.after(() => rmSync(directory, { recursive: true }));
  const folder = join(directory, 'samples');
  const paths = await samplePaths(join(import.meta.dirname, '../..'));
  const { status, stdout, stderr } = run(built, ['samples', folder]);
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, new RegExp(`^${paths.length} files written to ${folder}\\n`));
  for (const path of paths) {
    const written = readFileSync(join(folder, path));
    assert.ok(written.equals(readFileSync(join(import.meta.dirname, '../..', path))), path);
  }
  assert.match(run(built, ['samples', folder]).stdout, /^the samples are in \S+ already\n/);
  rmSync(join(folder, 'bin/make-images'));
  const refused = run(built, ['samples', folder]);
  assert.deepEqual(
    [refused.status, refused.stdout, refused.stderr],
    [
      2,
      '',
      `error: ${folder} has other files, and no bin/make-images; name another folder: minik8s samples FOLDER\n`,
    ],
  );
});

const refused: [args: string[], message: RegExp][] = [
  [[], /^$/],
  [
    ['no-such-command'],
    /^error: minik8s: unknown command no-such-command; (known: .*version|see minik8s --help)/,
  ],
  [['samples', 'one', 'two'], /^error: minik8s samples takes the name of one folder/],
  [['version', '--no-such-flag'], /^error: minik8s version: unknown flag --no-such-flag/],
];
for (const [args, message] of refused) {
  test(`wrong usage ends with status 2 and one line: minik8s ${args.join(' ')}`, () => {
    const { status, stderr } = run(built, args);
    assert.equal(status, 2);
    assert.match(stderr, message);
    assert.ok(stderr.split('\n').length <= 2, stderr);
  });
}
