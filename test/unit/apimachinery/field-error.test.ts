import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalidCause } from '../../../src/apimachinery/field-error.ts';

const shown = (value: unknown) => invalidCause('f', value, 'why').message;

test('a value is shown as JSON', () => {
  const values = [
    'a"b',
    0,
    null,
    true,
    [],
    [1, [2, {}]],
    { a: undefined, b: ['x', { c: '' }] },
    'x'.repeat(3998),
  ];
  for (const value of values) assert.equal(shown(value), `Invalid value: ${JSON.stringify(value)}: why`);
});

test('a long value is truncated in the message, at any position within it', () => {
  const list = Array.from({ length: 5000 }, (_, i) => i % 10);
  const fields = Object.fromEntries(list.map((_, i) => [`k${i}`, { a: [i] }]));
  for (const value of ['x'.repeat(5000), list, [[list]], fields, { a: ['y'.repeat(9000)], b: 1 }])
    assert.equal(shown(value), `Invalid value: ${JSON.stringify(value).slice(0, 4000)}…: why`);
});

test('only the displayed part of a long value is read', () => {
  let reads = 0;
  const list = new Proxy(new Array<number>(30_000).fill(0), {
    get(target, key) {
      reads++;
      return Reflect.get(target, key);
    },
  });
  shown(list);
  assert.ok(reads < 10_000, `${reads} reads`);
});
