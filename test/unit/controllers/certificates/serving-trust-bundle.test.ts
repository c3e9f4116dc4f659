/** The ClusterTrustBundle with the authority of the API server's certificates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ClusterTrustBundle,
  clusterTrustBundleResource,
} from '../../../../src/api/certificates/v1/cluster-trust-bundle.ts';
import { replaceable } from '../../../../src/base/current.ts';
import {
  servingTrustBundlePublisher,
  servingTrustBundleRights,
} from '../../../../src/controllers/certificates/serving-trust-bundle.ts';
import { meta } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const signerName = 'kubernetes.io/kube-apiserver-serving';
const prefix = 'kubernetes.io:kube-apiserver-serving:';

function start() {
  const authority = replaceable('first');
  const world = new ScriptedWorld(servingTrustBundlePublisher(authority), 0, [servingTrustBundleRights]);
  const reconcile = async () => {
    world.sync(clusterTrustBundleResource);
    await world.reconcile(signerName);
  };
  return { authority, world, reconcile };
}

test('the authority of the API server is published as a bundle of its own signer', async () => {
  const { world, reconcile } = start();
  await reconcile();
  const [bundle, ...more] = world.all(clusterTrustBundleResource);
  assert.deepEqual(more, []);
  assert.deepEqual(bundle?.spec, { signerName, trustBundle: 'first' });
  // The beginning of the SHA-256 of `first`.
  assert.equal(bundle?.metadata.name, `${prefix}a7937b64b8caa58f03721bb6`);
  const before = world.asked.length;
  await reconcile();
  assert.deepEqual(world.asked.slice(before), []);
});

test('a changed bundle of the authority is restored', async () => {
  const { world, reconcile } = start();
  await reconcile();
  const [key = ''] = world.names(clusterTrustBundleResource);
  world.edit(clusterTrustBundleResource, key, (bundle) => ({
    ...bundle,
    spec: { signerName, trustBundle: 'changed' },
  }));
  await reconcile();
  assert.equal(world.stored(clusterTrustBundleResource, key)?.spec.trustBundle, 'first');
});

test('the bundle of an earlier authority is removed', async () => {
  const { authority, world, reconcile } = start();
  await reconcile();
  const before = world.names(clusterTrustBundleResource);
  authority.replace('second');
  await reconcile();
  const after = world.all(clusterTrustBundleResource);
  assert.deepEqual(
    after.map(({ spec }) => spec.trustBundle),
    ['second'],
  );
  assert.notDeepEqual(world.names(clusterTrustBundleResource), before);
});

test('a bundle that ends is not changed', async () => {
  const { world, reconcile } = start();
  await reconcile();
  const [key = ''] = world.names(clusterTrustBundleResource);
  world.edit(clusterTrustBundleResource, key, (bundle: ClusterTrustBundle) => ({
    ...bundle,
    metadata: {
      ...bundle.metadata,
      ...meta(key, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      namespace: undefined,
    },
    spec: { signerName, trustBundle: 'changed' },
  }));
  const before = world.asked.length;
  await reconcile();
  assert.deepEqual(world.asked.slice(before), []);
});
