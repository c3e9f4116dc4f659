import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deepFreeze } from '../../../src/base/freeze.ts';

test('freezing an object freezes all nested values', () => {
  const frozen = deepFreeze({ a: [{ b: { c: 1 } }], d: null });
  for (const part of [frozen, frozen.a, frozen.a[0], frozen.a[0]?.b]) assert.ok(Object.isFrozen(part));
});
