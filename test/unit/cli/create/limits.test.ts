/** `ctl create quota` and `poddisruptionbudget`: objects of their flags. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountsOf } from '../../../../src/cli/create/limits.ts';

test('amounts of resources are split at commas and equals signs', () => {
  assert.deepEqual(amountsOf('cpu=1,limits.memory=1Gi'), { cpu: '1', 'limits.memory': '1Gi' });
});

test('a missing or empty text has no amounts', () => {
  assert.deepEqual([amountsOf(undefined), amountsOf('')], [{}, {}]);
});

for (const text of ['cpu', 'cpu=1=2', 'cpu=1,', 'cpu=1,pods'])
  test(`the amounts ${text} are rejected`, () => {
    assert.throws(() => amountsOf(text), { name: 'UsageError', message: /expected <resource>=<value>$/ });
  });
