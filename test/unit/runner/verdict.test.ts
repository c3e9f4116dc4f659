import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { FileResult, ProcessResult } from '../../runner/report.ts';
import { failureText, filesToRunAgain, totalLines, verdictOf } from '../../runner/verdict.ts';

const result = (file: string, failed = 0, more: Partial<FileResult> = {}): FileResult => ({
  file,
  passed: 1,
  failed,
  skipped: 0,
  seconds: 1,
  processorSeconds: 1,
  failures: failed > 0 ? [{ test: 'a', text: `E of ${file}` }] : [],
  skips: [],
  ...more,
});
const ran = (...files: readonly FileResult[]): ProcessResult => ({ files, loadingSeconds: 0, died: false });
const died = (...files: readonly FileResult[]): ProcessResult => ({ files, loadingSeconds: 0, died: true });

describe('files that run again', () => {
  it('are those that failed, not those that shared their process', () => {
    assert.deepEqual(filesToRunAgain([ran(result('a', 1), result('b')), ran(result('c', 2))]), ['a', 'c']);
    assert.deepEqual(filesToRunAgain([ran(result('a'))]), []);
  });

  it('are all that failed if these are at most three, and none otherwise', () => {
    const failed = ['a', 'b', 'c', 'd'].map((file) => ran(result(file, 1)));
    assert.deepEqual(filesToRunAgain(failed.slice(0, 3)), ['a', 'b', 'c']);
    assert.deepEqual(filesToRunAgain(failed), []);
  });

  it('are all files without a report of a process that died, which count as one failure', () => {
    const files = ['a', 'b', 'c', 'd'].map((file) => result(file, 1));
    assert.deepEqual(filesToRunAgain([died(...files, result('e'))]), ['a', 'b', 'c', 'd']);
    const others = ['f', 'g', 'h'].map((file) => ran(result(file, 1)));
    assert.deepEqual(filesToRunAgain([died(...files), ...others]), []);
  });
});

describe('the verdict of a run', () => {
  const skip = (file: string, reason: string) => ({ file, name: 'a', reason });

  it('counts the second run of a file that ran twice', () => {
    const first = [ran(result('a', 1, { passed: 5 }), result('b'))];
    const { flaky, failed, passedTests, failedTests } = verdictOf(first, [
      ran(result('a', 0, { passed: 6 })),
    ]);
    assert.deepEqual([flaky.map(({ failures }) => failures[0]?.text), failed], [['E of a'], []]);
    assert.deepEqual([passedTests, failedTests], [7, 0]);
  });

  it('is a failure when a file failed twice, or was not run again', () => {
    const twice = verdictOf([ran(result('a', 1))], [ran(result('a', 2))]);
    assert.deepEqual([twice.failed.map(({ file }) => file), twice.failedTests, twice.flaky], [['a'], 2, []]);
    const once = verdictOf([ran(result('a', 1))], []);
    assert.deepEqual([once.failed.map(({ file }) => file), once.flaky], [['a'], []]);
  });

  it('has the skips of both runs, each once', () => {
    const first = ran(
      result('a', 1, { skips: [skip('a', 'first')] }),
      result('b', 0, { skips: [skip('b', 'x')] }),
    );
    const again = ran(result('a', 0, { skips: [skip('a', 'first'), skip('a', 'second')] }));
    assert.deepEqual(
      verdictOf([first], [again]).skips.map(({ reason }) => reason),
      ['first', 'x', 'second'],
    );
  });
});

test('the last line of a run has only the counts', () => {
  const totals = { passed: 9, failed: 0, skipped: 1, flaky: [] };
  assert.equal(totalLines(totals), '9 passed, 0 failed, 1 skipped\n');
  assert.equal(
    totalLines({ ...totals, flaky: ['x', 'y'] }),
    '9 passed, 0 failed, 2 passed when run again: x, y\n9 passed, 0 failed, 1 skipped\n',
  );
});

test('a failure is printed with its file, its test and its text', () => {
  const failures = [
    { test: 's > a', text: 'one\ntwo' },
    { test: '', text: 'ended' },
  ];
  assert.equal(
    failureText(result('x', 1, { failures }), 'FLAKY'),
    'FLAKY x\n  s > a\n    one\n    two\n    ended\n',
  );
});
