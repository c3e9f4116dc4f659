/** How much of the controller of runs one namespace may hold. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shares } from '../../../../src/controllers/workflows/shares.ts';

test('keys beyond the share of their namespace are turned away, and told in order as others leave', () => {
  const shares = new Shares(2);
  assert.deepEqual(
    ['a/1', 'a/2', 'a/3', 'a/4', 'a/3'].map((key) => shares.enter(key)),
    [true, true, false, false, false],
  );
  assert.equal(shares.leave('a/1'), 'a/3');
  assert.equal(shares.enter('a/3'), true);
  assert.equal(shares.enter('a/5'), false);
  assert.deepEqual([shares.leave('a/2'), shares.leave('a/3')], ['a/4', 'a/5']);
  assert.deepEqual([shares.enter('a/4'), shares.enter('a/5')], [true, true]);
  assert.deepEqual([shares.leave('a/4'), shares.leave('a/5')], [undefined, undefined]);
});

test('a key that was turned away and came in since is not told again', () => {
  const shares = new Shares(1);
  assert.deepEqual([shares.enter('a/1'), shares.enter('a/2')], [true, false]);
  assert.equal(shares.leave('a/1'), 'a/2');
  assert.deepEqual([shares.enter('a/3'), shares.enter('a/2')], [true, false]);
  assert.equal(shares.leave('a/3'), 'a/2');
  assert.equal(shares.enter('a/2'), true);
  assert.equal(shares.leave('a/2'), undefined);
});

test('a full namespace takes nothing from another', () => {
  const shares = new Shares(1);
  assert.deepEqual(
    ['a/1', 'a/2', 'b/1'].map((key) => shares.enter(key)),
    [true, false, true],
  );
  assert.equal(shares.leave('b/1'), undefined);
  assert.equal(shares.enter('b/2'), true);
});
