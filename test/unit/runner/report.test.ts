import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndedTest, Line } from '../../runner/events.ts';
import { type ProcessEnd, readReport } from '../../runner/report.ts';

const ended: ProcessEnd = { code: 0, signal: null, lastOutput: '' };
const failedEnd: ProcessEnd = { ...ended, code: 1 };
const begin: Line = { begin: 0, used: 1 };
const beginInside: Line = { begin: 1, used: 2 };
const end: Line = { end: true, used: 8 };
const testAt = (path: readonly string[], more: Partial<EndedTest> = {}): EndedTest => ({
  path,
  suite: false,
  failed: false,
  ms: 500,
  ...more,
});
const suite = (name: string, more: Partial<EndedTest> = {}) => testAt([name], { suite: true, ...more });

describe('the report of a process with one file', () => {
  const read = (lines: readonly Line[], how = ended) => {
    const { files, died } = readReport(['x'], lines, how);
    return { ...files[0], died };
  };

  it('counts its tests without its suites, and adds up the times of the outermost', () => {
    const lines = [
      begin,
      testAt(['s', 'a']),
      testAt(['s', 'b'], { skipped: 'no x' }),
      suite('s', { ms: 1_000, used: 4 }),
      testAt(['c'], { used: 5 }),
      end,
    ];
    assert.deepEqual(read(lines), {
      file: 'x',
      passed: 2,
      failed: 0,
      skipped: 1,
      seconds: 1.5,
      processorSeconds: 7,
      failures: [],
      skips: [{ file: 'x', name: 'b', reason: 'no x' }],
      died: false,
    });
  });

  it('names each test that failed, not the suite around it', () => {
    const lines = [testAt(['s', 'a'], { failed: true, error: 'E' }), suite('s', { failed: true }), end];
    const { failures, failed, died } = read(lines, failedEnd);
    assert.deepEqual([failures, failed, died], [[{ test: 's > a', text: 'E' }], 1, false]);
  });

  it('counts a suite that failed although its tests did not', () => {
    const { failures, failed } = read([suite('s', { failed: true, error: 'before' }), end], failedEnd);
    assert.deepEqual([failures, failed], [[{ test: 's', text: 'before' }], 1]);
  });

  it('is a failure when it is missing or incomplete, however the process ended', () => {
    for (const lines of [[], [testAt(['a'])]]) {
      const { failures, failed, died } = read(lines);
      assert.deepEqual(failures, [
        { test: '', text: 'the process ended with exit status 0 without a report' },
      ]);
      assert.deepEqual([failed, died], [1, true]);
    }
    const killed = read([], { code: null, signal: 'SIGKILL', lastOutput: 'last words' });
    assert.equal(
      killed.failures?.[0]?.text,
      'the process was ended by SIGKILL without a report; it printed last:\nlast words',
    );
    const late = read([], { code: null, signal: 'SIGTERM', timeoutMs: 5_000, lastOutput: '' });
    assert.equal(late.failures?.[0]?.text, 'the process was ended after 5 s without a report');
  });

  it('is a failure when the process failed after its tests', () => {
    const { failures, died } = read([testAt(['a']), end], failedEnd);
    assert.deepEqual(failures, [
      { test: '', text: 'the process ended with exit status 1 although its tests passed' },
    ]);
    assert.equal(died, true);
  });
});

describe('the report of a process with several files', () => {
  const read = (lines: readonly Line[], how = failedEnd) => readReport(['x', 'y'], lines, how);
  const failing = ({ files }: ReturnType<typeof read>) =>
    files.flatMap(({ file, failures }) => failures.map(({ test, text }) => [file, test, text]));

  it('is split by file', () => {
    const lines = [
      begin,
      beginInside,
      testAt(['x', 'a']),
      suite('x', { used: 3 }),
      testAt(['y', 'b'], { failed: true, error: 'E' }),
      suite('y', { failed: true, used: 7 }),
      end,
    ];
    const result = read(lines);
    assert.deepEqual(failing(result), [['y', 'b', 'E']]);
    assert.equal(result.died, false);
    assert.equal(result.loadingSeconds, 2);
    assert.deepEqual(
      result.files.map(({ passed, seconds, processorSeconds }) => [passed, seconds, processorSeconds]),
      [
        [1, 0.5, 1],
        [0, 0.5, 4],
      ],
    );
  });

  it('has the failure of a file that cannot be loaded', () => {
    const result = read([
      suite('x', { failed: true, error: 'no module' }),
      testAt(['y', 'b']),
      suite('y'),
      end,
    ]);
    assert.deepEqual(failing(result), [['x', 'x', 'no module']]);
  });

  it('fails the files that had not ended when the process died', () => {
    const result = read([testAt(['x', 'a']), suite('x'), testAt(['y', 'b'])], { ...ended, code: 3 });
    assert.deepEqual(failing(result), [['y', '', 'the process ended with exit status 3 without a report']]);
    assert.equal(result.died, true);
  });

  it('fails each file when the process failed after all had passed', () => {
    const result = read([testAt(['x', 'a']), suite('x'), testAt(['y', 'b']), suite('y'), end]);
    const text = 'the process ended with exit status 1 although its tests passed';
    assert.deepEqual(failing(result), [
      ['x', '', text],
      ['y', '', text],
    ]);
  });
});
