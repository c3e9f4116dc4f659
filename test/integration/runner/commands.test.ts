/** The commands of the test runner: exit statuses, file names, counting of flakes. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { eventually } from '../../fixtures/eventually.ts';

const runner = join(import.meta.dirname, '../../runner');
const { NODE_TEST_CONTEXT: _, ALLOWED_SKIPS: __, MINIK8S_TEST_TOTALS: ___, ...env } = process.env;

function folderWith(context: TestContext, content: string) {
  const folder = mkdtempSync(join(tmpdir(), 'minik8s-runner-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'x.test.mjs');
  writeFileSync(file, `import { test } from 'node:test';\n${content}`);
  const places = ['--results', join(folder, 'results'), '--times', join(folder, 'times.json')];
  return { folder, file, places };
}

function run(program: string, args: readonly string[], cwd?: string, more: NodeJS.ProcessEnv = {}) {
  const options = { cwd, env: { ...env, ...more }, encoding: 'utf8' } as const;
  return spawnSync(process.execPath, [join(runner, program), ...args], options);
}

describe('a stage as a command', () => {
  for (const [content, status, last] of [
    [`test('a', () => {});`, 0, '1 passed, 0 failed, 0 skipped'],
    [`test('a', () => { throw new Error('E'); });`, 1, '0 passed, 1 failed, 0 skipped'],
    [`test('a', { skip: 'S' }, () => {});`, 1, '0 passed, 0 failed, 1 skipped'],
  ] as const) {
    it(`ends with status ${status} and prints "${last}"`, (context) => {
      const { places, folder } = folderWith(context, content);
      const result = run('main.ts', ['unit', ...places, 'x.test.mjs'], folder);
      assert.deepEqual(
        [result.status, result.stdout.trimEnd().split('\n').at(-1)],
        [status, last],
        result.stderr,
      );
    });
  }

  it('prints its name before its counts if the totals are printed later', (context) => {
    const { places, file } = folderWith(context, `test('a', () => {});`);
    const { stdout } = run('main.ts', ['e2e', ...places, file], undefined, { MINIK8S_TEST_TOTALS: 'later' });
    assert.match(stdout, /\ne2e: 1 passed, 0 failed, 0 skipped\n$/);
  });

  it('refuses names that are not tests, and unknown stages', () => {
    const names = run('main.ts', ['unit', 'no-such-folder', 'base']);
    assert.equal(names.status, 2);
    assert.match(
      names.stderr,
      /^no test file or folder of unit tests: no-such-folder; its folders are: .*apiserver/,
    );
    assert.equal(run('main.ts', ['nothing']).status, 2);
  });

  it('ends its test files when it is interrupted', async (context) => {
    const { places, file, folder } = folderWith(
      context,
      `import { writeFileSync } from 'node:fs';
      process.on('SIGTERM', () => { writeFileSync('${'FOLDER'}/ended', ''); process.exit(1); });
      test('hangs', () => { writeFileSync('${'FOLDER'}/began', ''); return new Promise(() => setInterval(() => {}, 1_000)); });`,
    );
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('FOLDER', folder));
    const child = spawn(process.execPath, [join(runner, 'main.ts'), 'e2e', ...places, file], {
      env,
      stdio: 'ignore',
    });
    await eventually(systemClock, 'the test begins', () => existsSync(join(folder, 'began')));
    child.kill('SIGTERM');
    const [status] = await once(child, 'exit');
    assert.equal(status, 143);
    assert.ok(existsSync(join(folder, 'ended')));
  });
});

describe('flakes', () => {
  it('are counted, with the first failure', (context) => {
    const { file, folder } = folderWith(
      context,
      `import { appendFileSync, readFileSync } from 'node:fs';
      test('fails at times', () => {
        appendFileSync(process.env.COUNT, 'x');
        const count = readFileSync(process.env.COUNT, 'utf8').length;
        if (count === 2 || count === 3) throw new Error('failure ' + count);
      });`,
    );
    const more = { COUNT: join(folder, 'count') };
    const { status, stdout, stderr } = run(
      'flakes.ts',
      [file, '--times', '4', '--load', '--json'],
      undefined,
      more,
    );
    assert.equal(status, 1, stderr);
    const [count] = JSON.parse(stdout) as [{ runs: number; failures: number; first: string }];
    assert.deepEqual([count.runs, count.failures], [4, 2]);
    assert.match(count.first, /^fails at times: Error: failure 2\n/);
    const table = run('flakes.ts', [file, '--times', '1'], undefined, more);
    assert.equal(table.status, 0);
    assert.match(table.stdout, /runs failures {2}file\n +1 +0 {2}.*x\.test\.mjs\n$/);
  });

  it('need a file and a number of runs', (context) => {
    assert.equal(run('flakes.ts', []).status, 2);
    assert.equal(run('flakes.ts', [folderWith(context, '').file, '--times', '0']).status, 2);
  });

  it('end their load when they are interrupted', async (context) => {
    const { file } = folderWith(context, `test('passes', () => {});`);
    const child = spawn(process.execPath, [join(runner, 'flakes.ts'), file, '--times', '1000', '--load'], {
      env,
      stdio: 'ignore',
    });
    const load = () =>
      readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
        .trim()
        .split(' ')
        .filter((pid) => pid !== '' && readCommand(pid).includes('process.ppid'));
    const started = await eventually(systemClock, 'two busy processes', () => {
      const pids = load();
      return pids.length === 2 && pids;
    });
    child.kill('SIGTERM');
    const [status] = await once(child, 'exit');
    assert.equal(status, 143);
    await eventually(systemClock, 'the load ends', () => started.every((pid) => readCommand(pid) === ''));
  });
});

/** Returns the command line of a process; empty when it has ended. */
function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
