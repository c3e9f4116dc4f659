/** Cache of encoded objects: entries are found by their object, and do not exceed the budget. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Budget, MadeOnce } from '../../../../src/apiserver/encoding/made.ts';

test('the oldest entry is dropped when all entries, of all kinds, exceed the budget', () => {
  const budget = new Budget(10);
  const [one, other] = [new MadeOnce<object>(budget), new MadeOnce<object>(budget)];
  const [a, b] = [{}, {}];
  const made = Buffer.alloc(5);
  assert.equal(one.keep(a, made), made);
  other.keep(a, Buffer.alloc(4));
  one.keep(b, Buffer.alloc(1));
  assert.equal(one.get(a), made);
  one.keep({}, Buffer.alloc(1));
  assert.equal(one.get(a), undefined);
  assert.equal(other.get(a)?.length, 4);
  assert.equal(one.get(b)?.length, 1);
});

test('an entry larger than the whole budget is returned without being cached, and its predecessor is removed', () => {
  const made = new MadeOnce<object>(new Budget(10));
  const [a, b] = [{}, {}];
  made.keep(a, Buffer.alloc(10));
  assert.equal(made.keep(b, Buffer.alloc(11)).length, 11);
  assert.equal(made.get(a), undefined);
  assert.equal(made.get(b), undefined);
});
