/** Values over time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptySeries, rateOf, withSample } from '../../../../src/dashboard/app/charts/plan/series.ts';

describe('a series', () => {
  it('keeps the values of the time that it shows', () => {
    let series = emptySeries(2);
    for (const at of [0, 1000, 2000, 3000]) series = withSample(series, at, [at / 1000, null], 2000);
    assert.deepEqual(series, {
      times: [1000, 2000, 3000],
      lines: [
        [1, 2, 3],
        [null, null, null],
      ],
    });
  });

  it('has no values from before a gap that is longer than the time that it shows', () => {
    const before = withSample(emptySeries(1), 0, [1], 2000);
    assert.deepEqual(withSample(before, 60_000, [2], 2000), { times: [60_000], lines: [[2]] });
  });

  it('has null for a line without a value', () => {
    assert.deepEqual(withSample(emptySeries(2), 0, [1], 1).lines, [[1], [null]]);
  });
});

describe('the rate of a counter', () => {
  it('is the growth in a second', () => {
    assert.equal(rateOf({ atMs: 1000, total: 10 }, { atMs: 3000, total: 50 }), 20);
  });

  it('is unknown at first, after a restart, and between two equal times', () => {
    const now = { atMs: 3000, total: 5 };
    assert.equal(rateOf(undefined, now), null);
    assert.equal(rateOf({ atMs: 1000, total: 10 }, now), null);
    assert.equal(rateOf({ atMs: 3000, total: 1 }, now), null);
  });
});
