/** Bytes of the store that are counted for the objects of a namespace. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NamespaceBytes } from '../../../src/storage/namespace-bytes.ts';

test('objects of all kinds are counted in their namespace, and cluster-scoped objects in none', () => {
  const bytes = new NamespaceBytes();
  bytes.change('/registry/configmaps/a/one', 0, 100);
  bytes.change('/registry/deployments.apps/a/two', 0, 30);
  bytes.change('/registry/configmaps/b/one', 0, 5);
  bytes.change('/registry/nodes/a', 0, 1000);
  assert.deepEqual([bytes.of('a'), bytes.of('b'), bytes.of('c'), bytes.of('')], [130, 5, 0, 0]);
});

test('a changed object is counted once, and a deleted object not at all', () => {
  const bytes = new NamespaceBytes();
  bytes.change('/registry/configmaps/a/one', 0, 100);
  bytes.change('/registry/configmaps/a/two', 0, 10);
  bytes.change('/registry/configmaps/a/one', 100, 40);
  assert.equal(bytes.of('a'), 50);
  bytes.change('/registry/configmaps/a/one', 40, 0);
  bytes.change('/registry/configmaps/a/two', 10, 0);
  assert.equal(bytes.of('a'), 0);
});
