import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheRoot } from '../../../../src/cli/connection/discovery-cache.ts';

test('caches are in --cache-dir, else in $KUBECACHEDIR, else in the home directory; an empty value counts as none', () => {
  const rootOf = (directory: string | undefined, KUBECACHEDIR?: string) =>
    cacheRoot({ env: { KUBECACHEDIR }, homeDirectory: '/home/me' }, directory);
  assert.equal(rootOf('/given', '/own'), '/given');
  assert.equal(rootOf('', '/own'), '/own');
  for (const none of [undefined, '']) assert.equal(rootOf(none, none), '/home/me/.kube/cache');
});
