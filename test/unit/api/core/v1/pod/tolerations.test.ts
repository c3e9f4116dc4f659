/** Removal of tolerations that another toleration covers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeTolerations } from '../../../../../../src/api/core/v1/pod/tolerations.ts';
import type { Toleration } from '../../../../../../src/api/core/v1/types.gen.ts';

const merged = (first: object[], second: object[] = []) =>
  mergeTolerations(first as Toleration[], second as Toleration[]);
const equal = { key: 'a', operator: 'Equal', value: '1', effect: 'NoSchedule' };
const any = { key: 'a', operator: 'Exists', effect: 'NoSchedule' };
const brief = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };

for (const [title, narrow, wide] of [
  ['one value, any value', equal, any],
  ['one effect, any effect', equal, { ...equal, effect: undefined }],
  ['one key, any key', equal, { operator: 'Exists' }],
  ['one key, any key of that effect', any, { operator: 'Exists', effect: 'NoSchedule' }],
  ['shorter, longer', brief, { ...brief, tolerationSeconds: 6 }],
  ['a limited time, an unlimited one', brief, { ...brief, tolerationSeconds: undefined }],
  ['an absent value, an empty one', { ...equal, value: undefined }, { ...equal, value: '' }],
] as const)
  test(`of two tolerations only the wider one is kept: ${title}`, () => {
    assert.deepEqual(merged([narrow], [wide]), [wide]);
    if (title !== 'an absent value, an empty one') assert.deepEqual(merged([wide], [narrow]), [wide]);
  });

for (const [title, one, other] of [
  ['two values', equal, { ...equal, value: '2' }],
  ['two keys', any, { ...any, key: 'b' }],
  ['two effects', any, brief],
  ['no key with a value, one key', { ...equal, key: '' }, equal],
  [
    'a longer time for one value, a shorter time for any',
    { ...brief, operator: 'Equal', tolerationSeconds: 9 },
    brief,
  ],
] as const)
  test(`both tolerations are kept: ${title}`, () => {
    assert.deepEqual(merged([one], [other]), [one, other]);
    assert.deepEqual(merged([other, one]), [other, one]);
  });

test('the first of equal tolerations is kept', () => {
  assert.deepEqual(merged([equal, { key: 'z', operator: 'Exists' }], [{ ...equal }]), [
    equal,
    { key: 'z', operator: 'Exists' },
  ]);
});
