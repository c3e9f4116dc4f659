/** The APIServices of the versions that the server itself serves exist, and cannot be taken over. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { apiServiceResource, availableOf } from '../../../src/api/apiregistration/v1/api-service.ts';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { type Cluster, startCluster } from './cluster.ts';

describe('the APIServices of the server itself', () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());

  const apps = () => cluster.get(apiServiceResource, 'v1.apps');
  const isLocal = async () => {
    const found = await apps();
    return found?.spec.service === undefined && found?.spec.groupPriorityMinimum === 17_800
      ? found
      : undefined;
  };

  it('are created, and available', async () => {
    const found = await cluster.eventually('the APIService of apps', apps);
    assert.equal(found.metadata.labels?.['kube-aggregator.kubernetes.io/automanaged'], 'onstart');
    assert.equal(availableOf(found)?.reason, 'Local');
    const names = (await cluster.list(apiServiceResource)).map(({ metadata }) => metadata.name);
    assert.ok(names.includes('v1.'), names.join());
    assert.ok(!names.includes('v1beta1.metrics.k8s.io'), names.join());
  });

  it('are restored when an extension server claims their version', async () => {
    await cluster.edit(apiServiceResource, 'v1.apps', (service) => {
      service.metadata.labels = {};
      service.spec.service = { namespace: 'default', name: 'thief', port: 443 };
    });
    const found = await cluster.eventually('the restored APIService', isLocal);
    assert.equal(found.metadata.labels?.['kube-aggregator.kubernetes.io/automanaged'], 'onstart');
  });

  it('are created again after they were deleted', async () => {
    const former = (await apps())?.metadata.uid;
    await cluster.client.resource(apiServiceResource).delete('v1.apps');
    const found = await cluster.eventually('the next APIService', async () => {
      const next = await apps();
      return next && next.metadata.uid !== former ? next : undefined;
    });
    assert.equal(found.spec.version, 'v1');
  });

  it('exist together with the ConfigMap of the authorities that extension servers trust', async () => {
    const configMap = () =>
      cluster.get(configMapResource, 'extension-apiserver-authentication', 'kube-system');
    const first = await cluster.eventually('the ConfigMap', configMap);
    assert.match(first.data?.['client-ca-file'] ?? '', /BEGIN CERTIFICATE/);
    await cluster.client.resource(configMapResource).update({ ...first, data: { 'client-ca-file': 'mine' } });
    await cluster.eventually('the restored ConfigMap', async () => {
      const { data } = (await configMap()) ?? {};
      return data?.['client-ca-file'] === first.data?.['client-ca-file'] || undefined;
    });
  });

  it('need no right that the account of the controller lacks', () => {
    assert.deepEqual([...cluster.refused], []);
  });
});
