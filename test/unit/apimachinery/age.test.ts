import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageSince, humanDuration } from '../../../src/apimachinery/age.ts';

const s = 1000;
const m = 60 * s;
const h = 60 * m;
const d = 24 * h;
const y = 365 * d;

for (const [ms, text] of [
  [-2 * s, '<invalid>'],
  [-1 * s, '0s'],
  [0, '0s'],
  [999, '0s'],
  [119 * s, '119s'],
  [2 * m, '2m'],
  [2 * m + 5 * s, '2m5s'],
  [10 * m - s, '9m59s'],
  [10 * m + 30 * s, '10m'],
  [3 * h - s, '179m'],
  [3 * h, '3h'],
  [5 * h + 3 * m, '5h3m'],
  [8 * h + 3 * m, '8h'],
  [48 * h - s, '47h'],
  [2 * d, '2d'],
  [2 * d + 3 * h, '2d3h'],
  [8 * d + 3 * h, '8d'],
  [2 * y - d, '729d'],
  [2 * y, '2y'],
  [3 * y + 10 * d, '3y10d'],
  [9 * y + 10 * d, '9y'],
] as const) {
  test(`${ms} ms are printed as ${text}`, () => assert.equal(humanDuration(ms), text));
}

test('ages count from a timestamp', () => {
  assert.equal(ageSince('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:01:35Z')), '95s');
  assert.equal(ageSince(undefined, 0), '<unknown>');
  assert.equal(ageSince('', 0), '<unknown>');
});
