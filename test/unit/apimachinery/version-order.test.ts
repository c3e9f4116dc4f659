import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions } from '../../../src/apimachinery/version-order.ts';

test('stable versions precede beta and alpha ones, newer versions precede older ones, and other names are last', () => {
  const sorted = [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'bar',
    'foo',
  ];
  assert.deepEqual(sorted.toReversed().sort(compareVersions), sorted);
  assert.deepEqual([...sorted.slice(5), ...sorted.slice(0, 5)].sort(compareVersions), sorted);
  assert.equal(compareVersions('v1', 'v1'), 0);
});
