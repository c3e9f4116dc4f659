import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { busySeconds, secondsOfChildren } from '../../runner/processor-seconds.ts';

describe('processor time in the files of the kernel', () => {
  it('includes the ended children of a process, whatever its name', () => {
    const stat = '42 (a) R (b) S 1 42 42 0 -1 4194304 900 80 0 0 11 12 150 75 20 0 1 0 5 6 7';
    assert.equal(secondsOfChildren(stat), 2.25);
  });

  it('is the busy time of the machine, without idle time and I/O waits', () => {
    const stat = 'cpu  100 20 30 9000 800 3 7 60 50 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n';
    assert.equal(busySeconds(stat), 1.6);
  });
});
