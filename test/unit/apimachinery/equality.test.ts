import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deepCopy, deepEqual, identityOf } from '../../../src/apimachinery/equality.ts';

for (const [a, b, equal] of [
  [1, 1, true],
  [1, '1', false],
  [null, undefined, false],
  [{ a: undefined }, {}, true],
  [{ a: null }, {}, false],
  [{ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, true],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [{ a: 1 }, { constructor: 1 }, false],
  [{}, [], false],
] as const) {
  test(`${JSON.stringify(a)} ${equal ? 'equals' : 'does not equal'} ${JSON.stringify(b)}`, () => {
    assert.equal(deepEqual(a, b), equal);
    assert.equal(deepEqual(b, a), equal);
    assert.equal(identityOf(a) === identityOf(b), equal);
  });
}

test('a copy is equal and shares nothing', () => {
  const original = JSON.parse('{"a":[{"b":1}],"__proto__":{"c":2}}');
  const copy = deepCopy(original);
  assert.equal(JSON.stringify(copy), JSON.stringify(original));
  assert.notEqual(copy.a[0], original.a[0]);
  assert.equal(({} as Record<string, unknown>).c, undefined);
});
