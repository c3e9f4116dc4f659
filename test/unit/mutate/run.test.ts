import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { importsOf } from '../../fixtures/imports.ts';
import { coverageOf, ranAt } from '../../mutate/coverage.ts';
import { matchEquivalents } from '../../mutate/equivalent.ts';
import { equivalents } from '../../mutate/equivalents/index.ts';
import { Judge } from '../../mutate/judge.ts';
import { type Mutant, mutantsOf } from '../../mutate/mutants.ts';
import { type Outcome, OutcomeLog, proofOf } from '../../mutate/outcomes.ts';
import { belowAim, countsOf, reportOf } from '../../mutate/report.ts';
import { root, type TestResult } from '../../mutate/run-test.ts';
import { sampleOf } from '../../mutate/sample.ts';
import { TestGraph } from '../../mutate/test-graph.ts';

const source = 'export const f = (a: number) => a + 1;\n';
const mutants = mutantsOf('src/x/f.ts', source);
const [plus, one] = mutants as [Mutant, Mutant];

describe('the tests of a file', () => {
  const texts: Readonly<Record<string, string>> = {
    'test/far.test.ts': "import '../src/g.ts';",
    'test/near.test.ts': "import { f } from '../src/f.ts';",
    'test/types.test.ts': "import type { F } from '../src/f.ts';",
    'test/other.test.ts': "import '../src/h.ts';",
    'src/g.ts': "export const g = () => import('./f.ts');",
    'src/f.ts': 'export const f = 1;',
    'src/h.ts': 'export const h = 1;',
  };
  const graphOf = (files: typeof texts) =>
    new TestGraph(
      new Map(Object.entries(files).map(([file, text]) => [file, { text, imports: importsOf(file, text) }])),
    );
  const tests = Object.keys(texts).filter((file) => file.startsWith('test/'));

  it('are the tests that import it at run time, the nearest first', () => {
    assert.deepEqual(graphOf(texts).reaching('src/f.ts', tests), ['test/near.test.ts', 'test/far.test.ts']);
  });

  it('are run again once anything that they import has changed', () => {
    const [before, after] = [graphOf(texts), graphOf({ ...texts, 'src/f.ts': 'export const f = 2;' })];
    assert.deepEqual(
      tests.filter((file) => before.hashOf(file) !== after.hashOf(file)),
      ['test/far.test.ts', 'test/near.test.ts'],
    );
  });
});

describe('the executed lines', () => {
  const range = (startOffset: number, endOffset: number, count: number) => ({
    startOffset,
    endOffset,
    count,
  });
  const report = (...ranges: ReturnType<typeof range>[]) => ({
    result: [
      { url: 'file:///r/src/a.ts', functions: ranges.map((each) => ({ ranges: [each] })) },
      { url: 'file:///elsewhere/b.ts', functions: [] },
    ],
  });

  it('are determined by the smallest range around each place', () => {
    const ran = coverageOf(
      [report(range(0, 100, 1), range(20, 50, 0), range(30, 40, 2), range(60, 70, 0))],
      'file:///r/',
    );
    assert.deepEqual([...ran.keys()], ['src/a.ts']);
    const all = ran.get('src/a.ts') ?? [];
    const expected = [true, false, true, false, true, false, true];
    assert.deepEqual(
      [0, 20, 30, 40, 50, 60, 99].map((offset) => ranAt(all, offset)),
      expected,
    );
    assert.deepEqual(
      [19, 29, 39, 49, 59, 69].map((offset) => ranAt(all, offset)),
      expected.slice(0, -1),
    );
    assert.equal(ranAt(all, 100), false);
  });

  it('are those that ran in at least one of the processes', () => {
    const all =
      coverageOf([report(range(0, 100, 1), range(20, 50, 0)), report(range(0, 100, 0))], 'file:///r/').get(
        'src/a.ts',
      ) ?? [];
    assert.deepEqual(
      [0, 20, 50].map((offset) => ranAt(all, offset)),
      [true, false, true],
    );
  });
});

describe('a mutant', () => {
  const passed: TestResult = { type: 'passed', ms: 1 };
  const failed: TestResult = { type: 'failed', ms: 1, test: 'adds' };
  /**
   * Judges the mutants one after the other, with tests whose outcomes are `results`; resolves with the tests
   * that ran for each.
   */
  async function judged(
    results: Readonly<Record<string, (mutant: Mutant) => TestResult>>,
    list: readonly Mutant[],
    runs: (test: string, offset: number) => boolean = () => true,
  ) {
    const ran: string[] = [];
    const judge = new Judge(
      Object.keys(results).map((test) => ({ test, runs: (offset) => runs(test, offset) })),
      async (mutant, test) => {
        ran.push(test);
        return results[test]?.(mutant) ?? passed;
      },
    );
    const outcomes: Outcome[] = [];
    for (const mutant of list) outcomes.push(await judge.judge(mutant));
    return { outcomes, ran };
  }

  it('is caught by the first test that fails, and survives when none does', async () => {
    const { outcomes, ran } = await judged(
      { a: () => passed, b: (mutant) => (mutant === plus ? failed : passed), c: () => passed },
      [plus],
    );
    assert.deepEqual(outcomes, [{ type: 'caught', by: 'b', test: 'adds' }]);
    assert.deepEqual(ran, ['a', 'b']);
    assert.deepEqual((await judged({ a: () => passed }, [plus])).outcomes, [{ type: 'survived' }]);
  });

  it('is tried first with the test that caught the most mutants', async () => {
    const { ran } = await judged({ a: () => passed, b: () => failed }, [plus, one]);
    assert.deepEqual(ran, ['a', 'b', 'b']);
  });

  it('is not tried with tests that do not run its line', async () => {
    const tests = { a: () => failed, b: () => failed };
    const { outcomes } = await judged(tests, [plus], (test) => test === 'b');
    assert.deepEqual(outcomes, [{ type: 'caught', by: 'b', test: 'adds' }]);
    assert.deepEqual(await judged(tests, [plus], () => false), { outcomes: [{ type: 'not run' }], ran: [] });
  });

  it('is killed by a test that does not end', async () => {
    const { outcomes } = await judged({ a: () => ({ type: 'timed out', ms: 1 }) }, [plus]);
    assert.deepEqual(outcomes, [{ type: 'timed out', by: 'a', test: '' }]);
  });
});

test('a recorded outcome is valid while its sources are unchanged, also after an incomplete line', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'outcomes-'));
  context.after(() => rm(directory, { recursive: true }));
  const log = () => new OutcomeLog(directory, 'src/x/f.ts');
  const caught = { type: 'caught', by: 'a', test: 't' } as const;
  assert.equal(
    log().get(plus, () => 'p'),
    undefined,
  );
  log().add(plus, { type: 'survived' }, 'o');
  log().add(plus, caught, 'p');
  await appendFile(join(directory, 'src/x/f.ts.jsonl'), '{"mutant": "0');
  assert.deepEqual(
    log().get(plus, () => 'p'),
    caught,
  );
  assert.equal(
    log().get(plus, () => 'q'),
    undefined,
  );
  assert.equal(
    log().get(one, () => 'p'),
    undefined,
  );
  assert.notEqual(proofOf('a', ['b']), proofOf('a', ['c']));
  assert.notEqual(proofOf('a', ['b']), proofOf('c', ['b']));
});

test('an equivalent mutant is identified by its line and change; an entry without a mutant is stale', () => {
  const entry = { file: 'src/x/f.ts', line: source.trim(), change: plus.change, because: 'nobody adds' };
  const others = [
    { ...entry, line: 'other' },
    { ...entry, change: 'a → b' },
    { ...entry, file: 'src/y.ts' },
  ];
  const { matched, stale } = matchEquivalents('src/x/f.ts', source, mutants, [entry, ...others]);
  assert.deepEqual([...matched], [plus]);
  assert.deepEqual(stale, others.slice(0, 2));
});

test('a sample is the same for the same seed, in order, and at most all', () => {
  const all = mutantsOf('x.ts', Array.from({ length: 40 }, (_, n) => `f(${n});`).join('\n'));
  const sample = sampleOf(all, 10, 'a');
  assert.equal(sample.length, 10);
  assert.deepEqual(sampleOf(all, 10, 'a'), sample);
  assert.deepEqual(
    sample,
    all.filter((mutant) => sample.includes(mutant)),
  );
  assert.notDeepEqual(sampleOf(all, 10, 'b'), sample);
  assert.deepEqual(sampleOf(all, all.length, 'a'), all);
});

test('the list of equivalent mutants has no mutant that the source lacks, and a reason for each', () => {
  const stale = [...new Set(equivalents.map((entry) => entry.file))].flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return matchEquivalents(file, text, mutantsOf(file, text), equivalents).stale;
  });
  assert.deepEqual(stale, []);
  for (const { because } of equivalents) assert.match(because, /\w+ \w+ \w+/);
});

describe('the report', () => {
  const caught: Outcome = { type: 'caught', by: 'a', test: 't' };
  const files = [
    {
      file: 'src/x/f.ts',
      outcomes: [
        [plus, caught],
        [one, { type: 'survived' }],
      ] as const,
    },
    {
      file: 'src/y/g.ts',
      outcomes: [
        [plus, caught],
        [one, { type: 'equivalent' }],
      ] as const,
    },
  ];

  it('counts timeouts as killed, and omits equivalent mutants', () => {
    const timedOut: Outcome = { type: 'timed out', by: 'a', test: '' };
    assert.deepEqual(
      countsOf([
        {
          file: 'a',
          outcomes: [
            [plus, timedOut],
            [one, { type: 'not run' }],
          ],
        },
        ...files,
      ]),
      { mutants: 6, caught: 2, timedOut: 1, survived: 1, notRun: 1, equivalent: 1, score: 60 },
    );
    assert.equal(countsOf([]).score, undefined);
  });

  it('names folders, files and survivors', () => {
    const lines = reportOf(files).split('\n');
    assert.match(lines[1] ?? '', /^src\/x\/ +2 +1 +0 +1 +0 +0 +50$/);
    assert.match(lines[4] ?? '', /^ {2}g\.ts +2 +1 +0 +0 +0 +1 +100$/);
    assert.match(lines[5] ?? '', /^all +4 /);
    assert.ok(lines.includes('src/x/f.ts:1: 1 → 2'));
  });

  it('lists the folders below the goal', () => assert.deepEqual(belowAim(files), ['src/x']));
});
