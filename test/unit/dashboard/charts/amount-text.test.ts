/** Amounts as texts. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  bytesText,
  percentText,
  processorsText,
  rateText,
} from '../../../../src/dashboard/app/charts/plan/amount-text.ts';

it('amounts are short texts with a unit', () => {
  assert.deepEqual([0, 512, 1536, 20 * 2 ** 20, 2.5 * 2 ** 40].map(bytesText), [
    ...['0 B', '512 B', '1.5 KiB', '20 MiB', '2.5 TiB'],
  ]);
  assert.deepEqual([0, 1250, 12_500, 250_000].map(processorsText), ['0.00', '1.25', '12.5', '250']);
  assert.deepEqual([rateText(0.25), rateText(123.4)], ['0.3/s', '123/s']);
});

it('a share of an unknown whole is a dash', () => {
  assert.deepEqual([percentText(1, 3), percentText(1, 0)], ['33%', '–']);
});
