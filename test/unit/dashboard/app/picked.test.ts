import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  nonePicked,
  type Picked,
  shareOf,
  stillThere,
  toggled,
  toggledAll,
  toggledRange,
} from '../../../../src/dashboard/app/table/plan/picked.ts';

const order = ['a', 'b', 'c', 'd', 'e'];
const uids = (picked: Picked) => [...picked.uids].sort().join('');

describe('selected rows', () => {
  it('are toggled one by one', () => {
    const two = toggled(toggled(nonePicked, 'b'), 'd');
    assert.equal(uids(two), 'bd');
    assert.equal(uids(toggled(two, 'b')), 'd');
  });

  it('are a range from the last toggled row, in the order that is shown and in either direction', () => {
    assert.equal(uids(toggledRange(toggled(nonePicked, 'b'), 'd', order)), 'bcd');
    assert.equal(uids(toggledRange(toggled(nonePicked, 'd'), 'b', order)), 'bcd');
    assert.equal(uids(toggledRange(toggled(nonePicked, 'a'), 'b', ['a', 'e', 'b'])), 'abe');
  });

  it('get the new state of the row at which a range ends', () => {
    const all = toggledAll(nonePicked, order);
    assert.equal(uids(toggledRange(toggled(all, 'b'), 'd', order)), 'ae');
  });

  it('are one row if a range has no beginning, or one that the filter hides', () => {
    assert.equal(uids(toggledRange(nonePicked, 'd', order)), 'd');
    assert.equal(uids(toggledRange(toggled(nonePicked, 'hidden'), 'd', order)), ['d', 'hidden'].join(''));
  });

  it('are all that a filter shows, besides those that it hides', () => {
    const one = toggled(nonePicked, 'z');
    const all = toggledAll(one, order);
    assert.equal(uids(all), 'abcdez');
    assert.equal(uids(toggledAll(all, order)), 'z');
    assert.equal(uids(toggledAll(toggled(nonePicked, 'b'), order)), 'abcde');
  });

  it('lose rows that no longer exist, and are the same selection if all exist', () => {
    const picked = toggledAll(nonePicked, order);
    assert.equal(uids(stillThere(picked, new Set(['a', 'c', 'new']))), 'ac');
    assert.equal(stillThere(picked, new Set([...order, 'new'])), picked);
  });

  it('are all, some or none of the rows that are shown', () => {
    const picked = toggled(nonePicked, 'b');
    assert.equal(shareOf(picked, ['b']), 'all');
    assert.equal(shareOf(picked, order), 'some');
    assert.equal(shareOf(picked, ['a']), 'none');
    assert.equal(shareOf(nonePicked, []), 'none');
    assert.equal(shareOf(picked, []), 'none');
  });
});
