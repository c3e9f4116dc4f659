import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration } from '../../../src/settings/duration.ts';

const read = duration('5s', '10m');

for (const [text, expected] of [
  ['5s', 5_000],
  ['40s', 40_000],
  ['1m30s', 90_000],
  ['6000ms', 6_000],
  ['10m', 600_000],
  ['5.5s', 5_500],
] as const)
  test(`${text} is ${expected} ms`, () => assert.equal(read(text), expected));

for (const text of ['', '40', 's', '4s', '10m1s', '1h', '-5s', '5 s', '5s!', '1d', 'forty'])
  test(`"${text}" is refused, with the expected form`, () =>
    assert.throws(() => read(text), /^Error: expected a duration from 5s to 10m, such as 10s or 1m30s$/));
