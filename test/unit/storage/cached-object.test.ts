import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DecodedBudget, listedObject } from '../../../src/storage/cached-object.ts';
import { body } from './cache-fixture.ts';

test('the most recently decoded objects stay decoded, within the budget', () => {
  const size = listedObject('/r/a', body('a'), 1, new DecodedBudget(0)).bytes.length;
  const budget = new DecodedBudget(2 * size);
  const objects = ['a', 'b', 'c', 'd'].map((name) => listedObject(`/r/${name}`, body(name), 1, budget));
  const [a, b, c, d] = objects;
  assert.ok(a && b && c && d);
  const first = a.object;
  assert.equal(a.object, first, 'decoded once');
  const second = b.object;
  assert.equal(a.object, first, 'both objects fit into the budget');
  const third = c.object;
  assert.equal(b.object, second);
  assert.equal(c.object, third);
  const again = a.object;
  assert.notEqual(again, first, 'the object that was decoded first was dropped');
  assert.deepEqual(again, first);
  assert.equal(c.object, third);
  assert.notEqual(b.object, second, 'the next one is dropped as well');
});

test('an object that is larger than the budget stays decoded until the next one is decoded', () => {
  const budget = new DecodedBudget(1);
  const [a, b] = ['a', 'b'].map((name) => listedObject(`/r/${name}`, body(name), 1, budget));
  const first = a?.object;
  assert.equal(a?.object, first);
  assert.equal(b?.object, b?.object);
  assert.notEqual(a?.object, first);
});
