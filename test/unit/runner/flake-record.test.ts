import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FlakeEntry, owedRuns } from '../../runner/flake-record.ts';

const entryOf = (file: string, runs: number): FlakeEntry => ({
  file,
  runs,
  failures: 0,
  first: '',
  load: false,
  date: '2026-01-01T00:00:00.000Z',
  commit: 'abc',
});

describe('the runs that files owe', () => {
  it('begin with the file that ran least, over all its entries', () => {
    const record = [entryOf('a', 2), entryOf('b', 3), entryOf('a', 2)];
    assert.deepEqual(owedRuns(['a', 'b', 'c'], record, 5), [
      { file: 'c', runs: 5 },
      { file: 'b', runs: 2 },
      { file: 'a', runs: 1 },
    ]);
  });

  it('leave out files that ran often enough, and files that were not requested', () => {
    assert.deepEqual(owedRuns(['a', 'b'], [entryOf('a', 5), entryOf('b', 7), entryOf('c', 1)], 5), []);
  });

  it('keep the order of files that ran as often', () => {
    const owed = owedRuns(['b', 'a', 'c'], [entryOf('a', 1), entryOf('b', 1), entryOf('c', 1)], 2);
    assert.deepEqual(
      owed.map(({ file }) => file),
      ['b', 'a', 'c'],
    );
  });
});
