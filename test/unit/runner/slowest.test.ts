import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { slowest } from '../../runner/slowest.ts';

describe('the slowest files of a run', () => {
  it('are not listed when each is quick', () => {
    assert.equal(slowest([{ file: 'a', seconds: 4.9 }]), '');
  });

  it('are ten at most, the longest first', () => {
    const times = Array.from({ length: 20 }, (_, index) => ({ file: `f${index}`, seconds: index }));
    const lines = slowest(times).trimEnd().split('\n');
    assert.equal(lines[0], 'slowest of 20 files, 190 s in all:');
    assert.deepEqual(
      lines.slice(1).map((line) => line.trim()),
      Array.from({ length: 10 }, (_, index) => `${19 - index} s f${19 - index}`),
    );
  });
});
