import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { coverageOf, ranAt } from '../../mutate/coverage.ts';
import { root, testRunner } from '../../mutate/run-test.ts';

const source =
  'export const add = (a: number, b: number): number => a + b;\nexport const not = () => false;\n';

/** Creates a source with a test of it, outside of the repository. */
async function sample(context: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'run-test-'));
  context.after(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'add.ts'), source);
  await writeFile(
    join(directory, 'add.test.ts'),
    `import assert from 'node:assert/strict';
     import { test } from 'node:test';
     import { Worker } from 'node:worker_threads';
     import { once } from 'node:events';
     import { add } from './add.ts';
     test('adds', () => assert.equal(add(1, 2), 3));
     test('adds in a thread', async () => {
       const worker = new Worker(new URL('./thread.ts', import.meta.url));
       assert.deepEqual(await once(worker, 'message'), [3]);
     });`,
  );
  await writeFile(
    join(directory, 'thread.ts'),
    `import { parentPort } from 'node:worker_threads';
     import { add } from './add.ts';
     parentPort?.postMessage(add(1, 2));`,
  );
  const runner = testRunner();
  context.after(() => runner.stop());
  const file = relative(root, join(directory, 'add.ts'));
  return {
    directory,
    run: (text?: string) =>
      runner.run(join(directory, 'add.test.ts'), 60_000, text === undefined ? undefined : { file, text }),
    runner,
    file,
  };
}

test('a test passes with the unchanged source, fails with another, and the file stays unchanged', async (context) => {
  const { directory, run } = await sample(context);
  assert.equal((await run()).type, 'passed');
  const result = await run(source.replace('a + b', 'a - b'));
  assert.ok(result.type === 'failed');
  assert.equal(result.test, 'adds');
  assert.equal(readFileSync(join(directory, 'add.ts'), 'utf8'), source);
});

test('threads of a test load the mutated source too', async (context) => {
  const { run } = await sample(context);
  const text = source.replace('a + b', 'a + b + (isMainThread ? 0 : 1)');
  const result = await run(`import { isMainThread } from 'node:worker_threads';\n${text}`);
  assert.ok(result.type === 'failed');
  assert.equal(result.test, 'adds in a thread');
});

test('a source that cannot be loaded, or never ends, is noticed', async (context) => {
  const { directory, run, runner, file } = await sample(context);
  assert.deepEqual({ ...(await run('export {};')), ms: 0 }, { type: 'failed', ms: 0, test: 'the file' });
  const endless = { file, text: `for (;;);\n${source}` };
  assert.equal((await runner.run(join(directory, 'add.test.ts'), 500, endless)).type, 'timed out');
});

test('the lines of the source that a test runs are measured', async (context) => {
  const { directory, runner } = await sample(context);
  const { result, reports } = await runner.measure(join(directory, 'add.test.ts'), 60_000);
  assert.equal(result.type, 'passed');
  const ran = coverageOf(reports, `${pathToFileURL(directory).href}/`).get('add.ts') ?? [];
  assert.ok(ranAt(ran, source.indexOf('a + b')));
  assert.ok(!ranAt(ran, source.indexOf('false')));
});
