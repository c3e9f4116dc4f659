/** Promises that are awaited together. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allEnded } from '../../../src/base/all-ended.ts';

describe('allEnded', () => {
  it('returns the results in the order of the promises', async () => {
    assert.deepEqual(await allEnded([Promise.resolve(1), Promise.resolve('b')]), [1, 'b']);
  });

  it('rejects with the first error, but only when all promises have ended', async () => {
    const other = Promise.withResolvers<string>();
    let isOver = false;
    const all = allEnded([Promise.reject(new Error('first')), other.promise]).finally(() => {
      isOver = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isOver, false);
    other.reject(new Error('second'));
    await assert.rejects(all, /first/);
  });
});
