import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packKey, unpackKey } from '../../../src/base/packed-key.ts';

test('unpacking a key returns the packed parts, for any characters', () => {
  for (const parts of [[], [''], ['a', ''], ['a b', 'c"d', 'e,f', '\u0000\n']]) {
    assert.deepEqual(unpackKey(packKey(...parts)), parts);
  }
});

test('keys are equal exactly when their parts are', () => {
  assert.equal(packKey('a', 'b'), packKey('a', 'b'));
  const keys = [packKey('a b', 'c'), packKey('a', 'b c'), packKey('a', 'b', 'c'), packKey('a b c')];
  assert.equal(new Set<string>(keys).size, keys.length);
});
