/**
 * Every namespace has its ServiceAccount and the certificate authority until the namespace ends: they
 * are restored after each deletion and change.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { serviceAccountResource } from '../../../src/api/core/v1/service-account/service-account.ts';
import { systemNamespaces } from '../../../src/api/core/v1/system-objects.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { testAuthority } from '../../fixtures/certificates.ts';
import { type Cluster, startCluster } from './cluster.ts';

const rootCa = 'kube-root-ca.crt';

describe('a namespace', () => {
  let cluster: Cluster;
  let pem: string;
  before(async () => {
    const authority = await testAuthority();
    pem = authority.certificate;
    cluster = await startCluster({ authority });
  });
  after(() => cluster.stop());

  const account = (namespace: string) => cluster.get(serviceAccountResource, 'default', namespace);
  const published = (namespace: string) => cluster.get(configMapResource, rootCa, namespace);
  const isPublished = (namespace: string) => async () =>
    (await published(namespace))?.data?.['ca.crt'] === pem;

  it('has its ServiceAccount and the authority, whether it exists from the beginning or is created later', async () => {
    await cluster.client
      .resource(namespaceResource)
      .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } });
    for (const namespace of [...systemNamespaces, 'later']) {
      await cluster.eventually(`the account of ${namespace}`, () => account(namespace));
      await cluster.eventually(`the authority in ${namespace}`, isPublished(namespace));
    }
  });

  it('accepts a pod as soon as it exists', async () => {
    for (let count = 0; count < 20; count++) {
      const name = `quick-${count}`;
      const { client } = cluster;
      const draft = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await client.resource(namespaceResource).create(draft);
      const pod = await cluster.until(
        client.resource(podResource).create({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'p', namespace: name },
          spec: { containers: [{ name: 'c', image: 'i' }] },
        } as unknown as Draft<Pod>),
      );
      assert.equal(pod.spec.serviceAccountName, 'default');
    }
  });

  it('gets its ServiceAccount and the authority again when they are deleted, and the authority also when it is changed', async () => {
    const before = await account('default');
    await cluster.client.resource(serviceAccountResource).delete('default', 'default');
    await cluster.eventually(
      'another account',
      async () => (await account('default'))?.metadata.uid !== before?.metadata.uid && account('default'),
    );
    await cluster.client.resource(configMapResource).delete(rootCa, 'default');
    await cluster.eventually('the authority again', isPublished('default'));
    await cluster.edit(configMapResource, rootCa, (configMap) => {
      configMap.data = { 'ca.crt': 'another' };
    });
    await cluster.eventually('the authority restored', isPublished('default'));
    await cluster.edit(configMapResource, rootCa, (configMap) => {
      configMap.data = { 'ca.crt': pem, more: 'x' };
      configMap.immutable = true;
    });
    await cluster.eventually('the authority alone', async () => {
      const found = await published('default');
      return found?.immutable !== true && found?.data?.['ca.crt'] === pem;
    });
    assert.deepEqual((await published('default'))?.data, { 'ca.crt': pem });
  });

  it('ends although it contains a ServiceAccount and the authority', async () => {
    await cluster.client
      .resource(namespaceResource)
      .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'short' } });
    await cluster.eventually('the account', () => account('short'));
    await cluster.eventually('the authority', isPublished('short'));
    await cluster.client.resource(namespaceResource).delete('short');
    await cluster.eventually(
      'the namespace has ended',
      async () => (await cluster.get(namespaceResource, 'short')) === undefined,
    );
    assert.deepEqual([await account('short'), await published('short')], [undefined, undefined]);
  });
});
