import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { slowest } from '../../runner/slowest.ts';

describe('the files of a run that take the most time', () => {
  it('are not listed if each is quick', () => {
    assert.equal(slowest([{ file: 'a', seconds: 4.9, processorSeconds: 4.9 }], 9), '');
  });

  it('are at most ten, the longest first', () => {
    const times = Array.from({ length: 20 }, (_, index) => ({
      file: `f${index}`,
      seconds: index,
      processorSeconds: 0,
    }));
    const lines = slowest(times, 0).trimEnd().split('\n');
    assert.equal(lines[0], 'slowest of 20 files, 190 s in all:');
    assert.deepEqual(
      lines.slice(1).map((line) => line.trim()),
      Array.from({ length: 10 }, (_, index) => `${19 - index} s f${19 - index}`),
    );
  });

  it('are listed by time and by processor time, since a file that waits takes little of the latter', () => {
    const text = slowest(
      [
        { file: 'waits', seconds: 60, processorSeconds: 1 },
        { file: 'works', seconds: 8, processorSeconds: 12 },
      ],
      3.2,
    );
    assert.equal(
      text,
      [
        'slowest of 2 files, 68 s in all:',
        '    60 s waits',
        '     8 s works',
        'dearest of 2 files, 13 s of processor time, and 3 s for loading them:',
        '    12 s works',
        '',
      ].join('\n'),
    );
  });
});
