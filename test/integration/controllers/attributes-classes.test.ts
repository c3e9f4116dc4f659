/** VolumeAttributesClasses in a cluster: they go when they are deleted, unless a claim names them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { persistentVolumeClaimResource } from '../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import {
  volumeAttributesClassResource as classes,
  type VolumeAttributesClass,
} from '../../../src/api/storage/v1/volume-attributes-class.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { type Cluster, startCluster } from './cluster.ts';

const draft = (metadata: object) =>
  ({
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttributesClass', metadata },
    ...{ driverName: 'disk.example.com', parameters: { iops: '5000' } },
  }) as unknown as Draft<VolumeAttributesClass>;

describe('classes of volume attributes', () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());
  const isGone = (name: string) => async () => (await cluster.get(classes, name)) === undefined;

  it('are patched, updated and deleted, one by one and as a collection', async () => {
    const api = cluster.client.resource(classes);
    const { metadata } = await api.create(draft({ generateName: 'e2e-' }));
    assert.deepEqual(metadata.finalizers, ['kubernetes.io/vac-protection']);
    await api.patch(metadata.name, '', 'strategic', { metadata: { labels: { a: 'patched' } } });
    const { items } = await api.list({ labelSelector: 'a=patched' });
    assert.equal(items.length, 1);
    await api.delete(metadata.name);
    await cluster.eventually('the deletion', isGone(metadata.name));

    const second = await api.create(draft({ generateName: 'e2e-' }));
    await api.update({ ...second, metadata: { ...second.metadata, labels: { a: 'updated' } } });
    const path = '/apis/storage.k8s.io/v1/volumeattributesclasses?labelSelector=a%3Dupdated';
    const answer = await cluster.until(cluster.ask(new Request(`http://x${path}`, { method: 'DELETE' })));
    assert.equal(answer.status, 200);
    await cluster.eventually('the deletion of the collection', isGone(second.metadata.name));
  });

  it('stay as long as a claim names them', async () => {
    const api = cluster.client.resource(classes);
    await api.create(draft({ name: 'gold' }));
    const claims = cluster.client.resource(persistentVolumeClaimResource);
    await claims.create({
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c', namespace: 'default' } },
      spec: {
        ...{ accessModes: ['ReadWriteOnce'], storageClassName: 'none', volumeAttributesClassName: 'gold' },
        resources: { requests: { storage: '1Gi' } },
      },
    } as unknown as Parameters<typeof claims.create>[0]);
    await cluster.eventually('the claim in the cache', async () =>
      cluster.get(persistentVolumeClaimResource, 'c'),
    );
    await cluster.pass(1_000);
    await api.delete('gold');
    await cluster.pass(60_000);
    assert.ok((await cluster.get(classes, 'gold'))?.metadata.deletionTimestamp);
    await claims.delete('c', 'default');
    await cluster.eventually('the deletion', isGone('gold'));
  });
});
