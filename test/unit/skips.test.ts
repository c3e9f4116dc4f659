import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext, test } from 'node:test';
import { helmVersions } from '../fixtures/helms.ts';
import { neededKubectls } from '../fixtures/kubectls.ts';
import { allowedSkips, judgeSkips, type Skip } from '../fixtures/skips.ts';

const root = join(import.meta.dirname, '../..');
const skip = (reason: string, name = 'suite', file = 'test/a.test.ts'): Skip => ({ file, name, reason });

describe('what a run left out', () => {
  it('is nothing', () => {
    assert.deepEqual(judgeSkips([], []), { text: 'skipped tests and suites: 0\n', refused: false });
  });

  it('is refused, by file and reason', () => {
    const { text, refused } = judgeSkips([skip('no kubectl'), skip('no kubectl', 'b'), skip('')], []);
    assert.ok(refused);
    assert.match(text, /^skipped tests and suites: 3\n/);
    assert.match(text, / NOT ALLOWED: test\/a\.test\.ts: no kubectl \(suite and 1 more\)\n/);
    assert.match(text, / NOT ALLOWED: test\/a\.test\.ts: no reason given \(suite\)\n/);
  });

  it('may be allowed by a part of its reason, one by one', () => {
    const allowed = allowedSkips(' kubectl 1.27, no Go ,,');
    assert.deepEqual(allowed, ['kubectl 1.27', 'no Go']);
    assert.equal(judgeSkips([skip('kubectl 1.27 is not here')], allowed).refused, false);
    const { text, refused } = judgeSkips([skip('kubectl 1.27 is not here'), skip('no etcd')], allowed);
    assert.ok(refused);
    assert.match(text, / allowed: .*kubectl 1\.27.*\n.* NOT ALLOWED: .*no etcd/);
    assert.deepEqual(allowedSkips(undefined), []);
    assert.ok(judgeSkips([skip('')], allowed).refused);
  });
});

/** Runs a test file of that text the way the npm scripts do. */
async function runOf(context: TestContext, text: string, allowed?: string) {
  const directory = await mkdtemp(join(tmpdir(), 'skips-'));
  context.after(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'x.test.mjs'), `import { describe, it, test } from 'node:test';\n${text}`);
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const reporters = scripts.conformance?.match(/--test-reporter\S*/g) ?? [];
  // Otherwise the runner takes itself for one of the files of the run that this test belongs to.
  const { NODE_TEST_CONTEXT: _, ALLOWED_SKIPS: __, ...env } = process.env;
  return new Promise<{ code: number; out: string }>((resolve) => {
    execFile(
      process.execPath,
      ['--test', ...reporters, join(directory, 'x.test.mjs')],
      { cwd: root, env: allowed === undefined ? env : { ...env, ALLOWED_SKIPS: allowed } },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out: out + err }),
    );
  });
}

for (const [what, text] of [
  ['suite', `describe('beside', { skip: 'no kubectl 1.32' }, () => { it('x', () => {}); });`],
  ['suite in a suite', `describe('a', () => { describe('b', { skip: 'no kubectl 1.32' }, () => {}); });`],
  ['test', `test('x', { skip: 'no kubectl 1.32' }, () => {});`],
  ['test that finds out late', `test('x', (t) => t.skip('no kubectl 1.32'));`],
] as const) {
  test(`a run fails for a skipped ${what}, unless it is allowed`, async (context) => {
    const refused = await runOf(context, text);
    assert.match(refused.out, /skipped tests and suites: 1\n.* NOT ALLOWED: .*no kubectl 1\.32/);
    assert.equal(refused.code, 1);
    const { code, out } = await runOf(context, text, 'kubectl 1.32');
    assert.match(out, /skipped tests and suites: 1\n {2}allowed: /);
    assert.equal(code, 0);
  });
}

test('a run that leaves nothing out passes, and one that fails does fail', async (context) => {
  const good = await runOf(context, `test('x', () => {});`);
  assert.match(good.out, /skipped tests and suites: 0\n/);
  assert.equal(good.code, 0);
  assert.equal((await runOf(context, `test('x', () => { throw new Error(); });`)).code, 1);
});

test('every suite is run with the reporter', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const runs = Object.entries(scripts).filter(([, script]) => script.includes('--test '));
  assert.deepEqual(runs.map(([name]) => name).sort(), ['conformance']);
  for (const [name, script] of runs) assert.match(script, /--test-reporter=\.\/test\/end-reporter\.ts/, name);
  for (const name of ['unit', 'integration', 'e2e']) {
    const program = scripts[name]?.match(/ node (test\/\S+)$/)?.[1] ?? assert.fail(name);
    assert.match(await readFile(join(root, program), 'utf8'), /^runAndReport\(/m, name);
  }
  assert.match(await readFile(join(root, 'test/report.ts'), 'utf8'), /compose\(endReport\)/);
});

test('bin/get-kubectl gets every kubectl that the tests need', async () => {
  const script = await readFile(join(root, 'bin/get-kubectl'), 'utf8');
  for (const version of neededKubectls)
    assert.match(script, new RegExp(`[( .]${RegExp.escape(version)}[.\\n]`), version);
});

test('bin/get-helm gets every Helm that the tests need', async () => {
  const script = await readFile(join(root, 'bin/get-helm'), 'utf8');
  assert.match(script, new RegExp(`^versions=\\(${RegExp.escape(helmVersions.join(' '))}\\)$`, 'm'));
});
