import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markerKey, prefixEnd } from '../../../src/storage/etcd-rpc.ts';

test('the range of a prefix ends behind all keys that start with it, and before all others', () => {
  for (const [prefix, end] of [
    ['/registry/', '/registry0'],
    ['/r/a', '/r/b'],
    ['z', '{'],
  ] as const)
    assert.equal(prefixEnd(prefix).toString(), end);
  assert.throws(() => prefixEnd(''), RangeError);
});

test('a marker lies right below the tree that it is for', () => {
  assert.equal(markerKey('/registry/pods/a', 'fence').toString(), '/registry.fence');
  assert.equal(markerKey('/r/', 'progress').toString(), '/r.progress');
  for (const key of ['/registry', '', '/']) assert.throws(() => markerKey(key, 'gone'), RangeError);
});
