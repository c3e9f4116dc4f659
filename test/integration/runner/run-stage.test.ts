/** The test runner itself, on small test files whose failures are defined by the test. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import type { FlakeEntry } from '../../runner/flake-record.ts';
import { runStage, type StageOptions, type StageResult } from '../../runner/run-stage.ts';
import type { Stage } from '../../runner/stages.ts';

const stage: Stage = {
  name: 'sample',
  files: 'tests/*/*.test.mjs',
  concurrency: 2,
  testTimeoutMs: 60_000,
  processTimeoutMs: 60_000,
  filesInProcess: 1,
  secondsInProcess: Number.POSITIVE_INFINITY,
  secondsPerKilobyte: 1,
};

const passes = `test('passes', () => {});`;
const fails = `test('fails', () => assert.equal(1, 2));`;
const skips = `test('skips', { skip: 'no kubectl' }, () => {});`;
/** Statements that only the first run of the file executes; `name` distinguishes the files. */
const once = (name: string, statements: string) =>
  `test('fails once', () => {
    if (existsSync('${name}.state')) return;
    writeFileSync('${name}.state', '');
    ${statements}
  });`;

interface More {
  readonly stage?: Partial<Stage>;
  readonly allowed?: string;
  readonly times?: Readonly<Record<string, number>>;
  readonly signal?: AbortSignal;
  readonly roomFor?: StageOptions['roomFor'];
}

/** Runs a stage of the given files; `texts` are their contents by name. */
async function run(context: TestContext, texts: Readonly<Record<string, string>>, more: More = {}) {
  const root = mkdtempSync(join(tmpdir(), 'minik8s-runner-'));
  context.after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'tests/all'), { recursive: true });
  const imports = `import assert from 'node:assert/strict';
    import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
    import { after, describe, test } from 'node:test';`;
  const files = Object.entries(texts).map(([name, content]) => {
    const file = `tests/all/${name}.test.mjs`;
    const order = `appendFileSync('order', '${name} ');`;
    writeFileSync(join(root, file), `${imports}\n${order}\n${content}`);
    return file;
  });
  const results = join(root, 'results');
  const times = join(root, 'times.json');
  const expected = Object.entries(more.times ?? {}).map(([name, seconds]) => [
    `tests/all/${name}.test.mjs`,
    seconds,
  ]);
  writeFileSync(times, JSON.stringify(Object.fromEntries(expected)));
  const out = new PassThrough();
  const printed = text(out);
  const passed = await runStage(
    { ...stage, ...more.stage },
    {
      root,
      files,
      results,
      times,
      allowed: more.allowed,
      verbose: false,
      totals: true,
      signal: more.signal ?? new AbortController().signal,
      ...(more.roomFor && { roomFor: more.roomFor }),
      out,
    },
  );
  out.end();
  const read = (name: string) =>
    existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : undefined;
  return {
    passed,
    printed: await printed,
    flaky: read('results/flaky-sample.txt'),
    log: read('results/sample.log') ?? '',
    result: JSON.parse(read('results/sample.json') ?? '{}') as StageResult,
    runs: (read('results/runs-sample.jsonl') ?? '')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as FlakeEntry])),
    order: (read('order') ?? '').trim().split(' '),
    times: JSON.parse(read('times.json') ?? '{}') as Record<string, number>,
  };
}

describe('a stage of tests', () => {
  it('passes when its files do', async (context) => {
    const { passed, printed, flaky, log, order } = await run(context, { a: passes, b: passes });
    assert.ok(passed, printed);
    assert.match(printed, /\nskipped tests and suites: 0\n2 passed, 0 failed, 0 skipped\n$/);
    assert.equal(flaky, undefined);
    assert.match(log, /== tests\/all\/a\.test\.mjs\n✔ passes/);
    assert.deepEqual(order.sort(), ['a', 'b']);
  });

  it('reports the processor time of each file, with that of the programs it started', async (context) => {
    const spins = `import { spawn } from 'node:child_process';
      import { once } from 'node:events';
      test('spins', async () => {
        const until = 'while (process.cpuUsage().user < 400_000);';
        await once(spawn(process.execPath, ['-e', until]), 'exit');
      });`;
    for (const filesInProcess of [1, 2]) {
      const { result } = await run(context, { spins, waits: passes }, { stage: { filesInProcess } });
      const of = (name: string) => result.files.find(({ file }) => file.includes(name))?.processorSeconds;
      const spun = of('spins') ?? 0;
      assert.ok(spun >= 0.35, JSON.stringify(result));
      assert.ok((of('waits') ?? spun) < spun, JSON.stringify(result));
      assert.ok(result.loadingSeconds > 0, JSON.stringify(result));
      assert.ok(result.machineSeconds >= 0.35, JSON.stringify(result));
    }
  });

  it('passes with a file that fails once, prints its first failure as FLAKY and keeps it', async (context) => {
    const { passed, printed, flaky, result, order, runs } = await run(context, {
      a: `${once('a', 'assert.equal(1, 2);')}\n${passes}`,
      b: passes,
    });
    assert.ok(passed, printed);
    const text = /FLAKY tests\/all\/a\.test\.mjs\n {2}fails once\n {4}AssertionError(?:.|\n)* 1 !== 2\n/;
    assert.match(printed, text);
    assert.match(flaky ?? '', text);
    const last =
      '3 passed, 0 failed, 1 passed when run again: tests/all/a.test.mjs\n3 passed, 0 failed, 0 skipped\n';
    assert.ok(printed.endsWith(last), printed);
    assert.deepEqual(result.flaky, ['tests/all/a.test.mjs']);
    assert.deepEqual(order.toSorted(), ['a', 'a', 'b']);
    assert.deepEqual(
      runs.map(({ file, runs: count, failures }) => [file, count, failures]),
      [
        ['tests/all/a.test.mjs', 2, 1],
        ['tests/all/b.test.mjs', 1, 0],
      ],
    );
    assert.match(runs[0]?.first ?? '', /^fails once: AssertionError/);
  });

  it('fails with a file that fails again', async (context) => {
    const { passed, printed, flaky, order } = await run(context, { a: `${fails}\n${passes}` });
    assert.equal(passed, false);
    assert.equal(flaky, undefined);
    assert.match(printed, /\nfailed files:\n {2}tests\/all\/a\.test\.mjs\n1 passed, 1 failed, 0 skipped\n$/);
    assert.deepEqual(order, ['a', 'a']);
  });

  it('fails with four files that fail, and repeats none of them', async (context) => {
    const texts = Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((name) => [name, once(name, 'assert.fail();')]),
    );
    const { passed, printed, order } = await run(context, texts);
    assert.equal(passed, false);
    assert.deepEqual(order.sort(), ['a', 'b', 'c', 'd']);
    assert.match(printed, /\n0 passed, 4 failed, 0 skipped\n$/);
  });

  for (const [how, statement, reason] of [
    ['exits with status 0', 'process.exit(0);', 'the process ended with exit status 0 without a report'],
    [
      'is killed',
      `process.kill(process.pid, 'SIGKILL');`,
      'the process was ended by SIGKILL without a report',
    ],
  ] as const) {
    it(`fails with a file whose process ${how} before it reports`, async (context) => {
      const { passed, printed } = await run(context, { a: `test('ends', () => { ${statement} });` });
      assert.equal(passed, false);
      assert.ok(printed.includes(`FAILED tests/all/a.test.mjs\n    ${reason}`), printed);
      assert.match(printed, /\n\d+ passed, 1 failed, 0 skipped\n$/);
    });

    it(`passes with a file whose process ${how} once`, async (context) => {
      const { passed, flaky } = await run(context, { a: once('a', statement) });
      assert.ok(passed);
      assert.ok(flaky?.includes(reason), flaky ?? 'no flaky file');
    });
  }

  it('fails with a file that cannot be loaded, or fails in a hook', async (context) => {
    const broken = await run(context, { a: `import 'no-such-package';` });
    assert.equal(broken.passed, false);
    assert.match(broken.printed, /Cannot find package 'no-such-package'/);
    const hook = await run(context, { a: `after(() => assert.fail('hook'));\n${passes}` });
    assert.equal(hook.passed, false);
    assert.match(hook.printed, /hook/);
  });

  it('ends a process that takes too long', async (context) => {
    const { passed, printed } = await run(
      context,
      { a: `test('hangs', () => new Promise(() => setInterval(() => {}, 1_000)));` },
      { stage: { processTimeoutMs: 1_000 } },
    );
    assert.equal(passed, false);
    assert.match(printed, /the process was ended after 1 s without a report/);
  });

  for (const [when, tests] of [
    ['its test ends', `test('leaves a timer', () => { setInterval(() => {}, 1_000); });`],
    [
      'the last of several tests ends',
      `${passes} test('leaves a timer', () => { setInterval(() => {}, 1_000); });`,
    ],
  ] as const) {
    it(`ends a process that continues when ${when}, and reports what keeps it running`, async (context) => {
      const { passed, printed } = await run(context, { a: tests }, { stage: { lingerMs: 200 } });
      assert.equal(passed, false);
      assert.match(printed, /the process ended with exit status 7 without a report/);
      assert.match(printed, /the tests ended 0\.2 s ago, and the process goes on: .*Timeout/);
    });
  }

  it('lets a process end whose last hook takes a while', async (context) => {
    const slow = 'after(() => new Promise((done) => setTimeout(done, 600)));';
    const { passed, printed } = await run(context, { a: `${slow}${passes}` }, { stage: { lingerMs: 2_000 } });
    assert.ok(passed, printed);
  });

  it('begins with the files that took longest in the last run, and stores their times', async (context) => {
    const texts = { a: passes, b: passes, c: passes };
    const { order, times } = await run(context, texts, {
      stage: { concurrency: 1 },
      times: { a: 20, b: 40, c: 30 },
    });
    assert.deepEqual(order, ['b', 'c', 'a']);
    for (const name of order) assert.ok((times[`tests/all/${name}.test.mjs`] ?? 20) < 20, name);
  });

  describe('while processors are idle', () => {
    const together = { concurrency: 1, maxConcurrency: 2 };
    const waits = (own: string, other: string, ms: number) => `test('waits', async () => {
      writeFileSync('${own}.begun', '');
      const end = performance.now() + ${ms};
      while (!existsSync('${other}.begun') && performance.now() < end)
        await new Promise((done) => setTimeout(done, 20));
      assert.ok(existsSync('${other}.begun'));
    });`;
    const room = (hasRoom: boolean): NonNullable<StageOptions['roomFor']> => {
      let looks = 0;
      return ({ least, most }) => ({
        mayStart: (running) => running < least || (hasRoom && running < most && ++looks > 3),
        started: () => undefined,
        change: () => [new Promise((done) => setTimeout(done, 20))],
        stop: () => undefined,
      });
    };

    it('starts more files than the minimum as soon as there is room', async (context) => {
      const texts = { a: waits('a', 'b', 60_000), b: waits('b', 'a', 60_000) };
      const { passed, printed } = await run(context, texts, { stage: together, roomFor: room(true) });
      assert.ok(passed, printed);
    });

    it('starts no more files than the minimum if there is no room', async (context) => {
      const texts = { a: waits('a', 'b', 300), b: `writeFileSync('b.begun', '');${passes}` };
      const times = { a: 20, b: 10 };
      const { result, order } = await run(context, texts, {
        ...{ stage: together, times, roomFor: room(false) },
      });
      // The file that waited in vain passes when it is run again, after the other one.
      assert.deepEqual(result.flaky, ['tests/all/a.test.mjs']);
      assert.deepEqual(order, ['a', 'b', 'a']);
    });
  });

  it('does nothing more once it is interrupted', async (context) => {
    const stopping = new AbortController();
    stopping.abort();
    const { passed, printed, flaky, result } = await run(context, { a: passes }, { signal: stopping.signal });
    assert.equal(passed, false);
    assert.match(printed, /sample: interrupted; 0 of 1 files had ended/);
    assert.deepEqual([flaky, result.files], [undefined, undefined]);
  });
});

describe('files that share a process', () => {
  const shared = { stage: { filesInProcess: 4 } };

  it('are repeated alone if they failed', async (context) => {
    const texts = { a: passes, b: once('b', 'assert.fail();'), c: passes };
    const { passed, order, result } = await run(context, texts, shared);
    assert.ok(passed);
    assert.deepEqual(order, ['a', 'b', 'c', 'b']);
    assert.deepEqual(result.flaky, ['tests/all/b.test.mjs']);
    assert.deepEqual([result.passed, result.failed], [3, 0]);
  });

  it('are repeated if they had not reported when their process ended', async (context) => {
    const texts = { a: passes, b: once('b', 'process.exit(0);'), c: passes };
    const { passed, order, result } = await run(context, texts, shared);
    assert.ok(passed);
    // Output that node:test had not written when the process ended may belong to the previous file's report.
    assert.deepEqual(order.slice(0, 3), ['a', 'b', 'c']);
    assert.deepEqual(
      order.slice(3).filter((name) => name !== 'a'),
      ['b', 'c'],
    );
    assert.deepEqual([result.passed, result.failed], [3, 0]);
  });

  it('fail alone with an uncaught error, which is reported in the test that ran meanwhile', async (context) => {
    for (const [thrown, text] of [
      [`setTimeout(() => { throw new Error('stray'); });`, 'stray'],
      [`Promise.reject(new Error('rejected'));`, 'rejected'],
    ]) {
      const waits = `await new Promise((resolve) => setTimeout(resolve, 100));`;
      const throws = `test('waits', async () => { ${waits} }); test('throws', async () => { ${thrown} ${waits} });`;
      const texts = { a: passes, b: throws, c: passes };
      const { passed, order, printed } = await run(context, texts, shared);
      assert.equal(passed, false);
      assert.deepEqual(order, ['a', 'b', 'c', 'b']);
      assert.match(printed, /FAILED tests\/all\/b\.test\.mjs\n {2}throws\n {4}not caught: Error: /);
      assert.match(printed, new RegExp(`not caught: Error: ${text}`));
      assert.match(printed, /\nfailed files:\n {2}tests\/all\/b\.test\.mjs\n/);
    }
  });

  it('fail alone when they cannot be loaded', async (context) => {
    const texts = { a: passes, b: `import 'no-such-package';`, c: passes };
    const { passed, order, printed } = await run(context, texts, shared);
    assert.equal(passed, false);
    assert.deepEqual(order, ['a', 'c']);
    assert.match(printed, /\n2 passed, 1 failed, 0 skipped\n$/);
  });
});

describe('a skip', () => {
  for (const [what, content] of [
    ['suite', `describe('a', { skip: 'no kubectl' }, () => { test('x', () => {}); });`],
    ['suite in a suite', `describe('a', () => { describe('b', { skip: 'no kubectl' }, () => {}); });`],
    ['test', skips],
    ['test that skips itself while it runs', `test('x', (t) => t.skip('no kubectl'));`],
  ] as const) {
    it(`of a ${what} fails the stage, unless it is allowed`, async (context) => {
      const refused = await run(context, { a: content });
      assert.match(refused.printed, /skipped tests and suites: 1\n.* NOT ALLOWED: .*no kubectl/);
      assert.equal(refused.passed, false);
      const { passed, printed } = await run(context, { a: content }, { allowed: 'no kubectl' });
      assert.match(printed, /skipped tests and suites: 1\n {2}allowed: /);
      assert.ok(passed);
    });
  }

  it('in the first run counts, also if the second skips no test', async (context) => {
    const content = `test('x', (t) => {
      if (existsSync('a.state')) return;
      t.skip('no kubectl');
    });\n${once('a', 'assert.fail();')}`;
    const { passed, printed } = await run(context, { a: content });
    assert.equal(passed, false);
    assert.match(printed, / NOT ALLOWED: tests\/all\/a\.test\.mjs: no kubectl \(x\)/);
  });
});
