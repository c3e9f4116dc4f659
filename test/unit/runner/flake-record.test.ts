import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FlakeEntry, owedRuns, runsOf, withRuns } from '../../runner/flake-record.ts';

const entryOf = (file: string, runs: number): FlakeEntry => ({
  file,
  runs,
  failures: 0,
  first: '',
  load: false,
  date: '2026-01-01T00:00:00.000Z',
  commit: 'abc',
});

describe('the runs that files still need', () => {
  it('begin with the file that has run least, by all its entries', () => {
    const record = [entryOf('a', 2), entryOf('b', 3), entryOf('a', 2)];
    assert.deepEqual(owedRuns(['a', 'b', 'c'], record, 5), [
      { file: 'c', runs: 5 },
      { file: 'b', runs: 2 },
      { file: 'a', runs: 1 },
    ]);
  });

  it('do not include files that have run often enough, and files that were not requested', () => {
    assert.deepEqual(owedRuns(['a', 'b'], [entryOf('a', 5), entryOf('b', 7), entryOf('c', 1)], 5), []);
  });

  it('keep the order of files that have run equally often', () => {
    const owed = owedRuns(['b', 'a', 'c'], [entryOf('a', 1), entryOf('b', 1), entryOf('c', 1)], 2);
    assert.deepEqual(
      owed.map(({ file }) => file),
      ['b', 'a', 'c'],
    );
  });
});

describe('the recorded runs of a stage', () => {
  const passing = { passed: 1, failed: 0, skipped: 0, seconds: 1, processorSeconds: 1, skips: [] };
  const resultOf = (file: string, ...texts: readonly string[]) => ({
    ...passing,
    file,
    failures: texts.map((text) => ({ test: 'it works', text })),
  });
  const now = { date: '2026-01-02T00:00:00.000Z', commit: 'def' };

  it('are one for a file that passed, two for a file that passed when run again, and none for one that failed', () => {
    const files = [resultOf('a'), resultOf('b'), resultOf('c', 'no')];
    assert.deepEqual(runsOf({ files, flaky: [resultOf('b', 'too late', 'later')] }, now), [
      { ...entryOf('a', 1), ...now },
      { ...entryOf('b', 2), failures: 1, first: 'it works: too late', ...now },
    ]);
  });

  it('are added to the last entry of the file, with their date and commit', () => {
    const more = { ...entryOf('a', 1), ...now };
    const failed = { ...entryOf('a', 2), failures: 1, first: 'no' };
    assert.deepEqual(withRuns([entryOf('a', 4), failed, entryOf('b', 2)], [more, more]), [
      entryOf('a', 4),
      { ...failed, runs: 4, ...now },
      entryOf('b', 2),
    ]);
  });

  it('begin an entry for another file, for another load, and for a failure', () => {
    const record = [entryOf('a', 4)];
    const more = [entryOf('b', 1), { ...entryOf('a', 1), load: true }, { ...entryOf('a', 2), failures: 1 }];
    assert.deepEqual(withRuns(record, more), [...record, ...more]);
  });
});
