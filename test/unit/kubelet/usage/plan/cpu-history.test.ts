/** CPU rates, and sums that do not fall when a container restarts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CpuHistory, PodCpuTotals } from '../../../../../src/kubelet/usage/plan/cpu-history.ts';

describe('a rate', () => {
  it('covers the time since the previous reading', () => {
    const history = new CpuHistory();
    assert.deepEqual(history.take('a', { at: 0, total: 5e9 }), { at: 0, total: 5e9, rate: undefined });
    assert.equal(history.take('a', { at: 10_000, total: 10e9 }).rate, 5e8);
    assert.equal(
      history.take('b', { at: 10_000, total: 10e9 }).rate,
      undefined,
      'each source has a rate of its own',
    );
    assert.equal(history.take('a', { at: 20_000, total: 10e9 }).rate, 0);
  });

  it('is not computed over a very short time', () => {
    const history = new CpuHistory();
    history.take('a', { at: 0, total: 0 });
    history.take('a', { at: 1000, total: 1e9 });
    assert.deepEqual(history.take('a', { at: 1001, total: 2e9 }), { at: 1000, total: 1e9, rate: 1e9 });
    // The clock was set back.
    assert.equal(history.take('a', { at: 500, total: 3e9 }).at, 1000);
  });

  it('is never below zero', () => {
    const history = new CpuHistory();
    history.take('a', { at: 0, total: 9e9 });
    assert.deepEqual(history.take('a', { at: 1000, total: 1e9 }), { at: 1000, total: 9e9, rate: 0 });
  });

  it('is dropped with its source', () => {
    const history = new CpuHistory();
    history.take('a', { at: 0, total: 1 });
    history.keep(new Set(['b']));
    assert.equal(history.take('a', { at: 1000, total: 2 }).rate, undefined);
  });
});

describe('the CPU time of a pod', () => {
  it('includes the usage of its ended containers', () => {
    const totals = new PodCpuTotals();
    assert.equal(
      totals.take(
        'p',
        new Map([
          ['one', 100],
          ['two', 10],
        ]),
      ),
      110,
    );
    assert.equal(totals.take('p', new Map([['two', 20]])), 120, 'one has ended');
    assert.equal(
      totals.take(
        'p',
        new Map([
          ['two', 20],
          ['three', 5],
        ]),
      ),
      125,
      'a new container adds its time',
    );
    assert.equal(totals.take('p', new Map()), 125, 'nothing can be read for a moment');
    assert.equal(totals.take('q', new Map([['one', 1]])), 1);
  });

  it('needs little memory for a container that crashes for weeks', () => {
    const totals = new PodCpuTotals();
    for (let run = 1; run <= 10_000; run++)
      assert.equal(
        totals.take(
          'p',
          new Map([
            ['steady', 7],
            [`run-${run}`, 1],
          ]),
        ),
        7 + run,
      );
    totals.keep(new Set());
    assert.equal(totals.take('p', new Map([['steady', 7]])), 7);
  });
});
