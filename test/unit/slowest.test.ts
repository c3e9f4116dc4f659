import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { slowest } from '../fixtures/slowest.ts';

describe('the slowest files of a run', () => {
  it('are not told of when each is quick', () => {
    assert.equal(slowest([{ file: 'a', ms: 4_999 }]), '');
  });

  it('are fifteen at most, the longest first', () => {
    const times = Array.from({ length: 20 }, (_, index) => ({ file: `f${index}`, ms: 1_000 * index }));
    const lines = slowest(times).trimEnd().split('\n');
    assert.equal(lines[0], 'slowest of 20 files, 190 s in all:');
    assert.deepEqual(
      lines.slice(1).map((line) => line.trim()),
      Array.from({ length: 15 }, (_, index) => `${19 - index} s f${19 - index}`),
    );
  });
});
