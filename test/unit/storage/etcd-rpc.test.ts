import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompareResult, CompareTarget } from 'etcd3';
import {
  compareEqual,
  markerKey,
  prefixEnd,
  targetModRevision,
  targetValue,
} from '../../../src/storage/etcd-rpc.ts';

test('the range of a prefix contains exactly the keys that start with it', () => {
  for (const [prefix, end] of [
    ['/registry/', '/registry0'],
    ['/r/a', '/r/b'],
    ['z', '{'],
  ] as const)
    assert.equal(prefixEnd(prefix).toString(), end);
  assert.throws(() => prefixEnd(''), RangeError);
});

test('a marker key sorts directly before its tree', () => {
  assert.equal(markerKey('/registry/pods/a', 'fence').toString(), '/registry.fence');
  assert.equal(markerKey('/r/', 'progress').toString(), '/r.progress');
  for (const key of ['/registry', '', '/']) assert.throws(() => markerKey(key, 'gone'), RangeError);
});

test("comparisons have the numbers of etcd's protocol", () => {
  assert.equal(compareEqual, CompareResult.Equal);
  assert.equal(targetModRevision, CompareTarget.Mod);
  assert.equal(targetValue, CompareTarget.Value);
});
