/** ServiceCIDRs and IPAddresses in a cluster: Services get addresses of further ranges. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { type IPAddress, ipAddressResource } from '../../../src/api/networking/v1/ip-address.ts';
import { type ServiceCIDR, serviceCIDRResource } from '../../../src/api/networking/v1/service-cidr.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
import { type Cluster, startCluster } from './cluster.ts';

const rangesOf = (name: string, ...cidrs: string[]): Draft<ServiceCIDR> => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name },
  spec: { cidrs },
});
const serviceOf = (name: string, clusterIP?: string) =>
  ({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' } },
    spec: { ports: [{ port: 80 }], ...(clusterIP !== undefined && { clusterIP }) },
  }) as unknown as Draft<Service>;
const addressOf = (name: string, parentRef: object) =>
  ({
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'IPAddress', metadata: { name } },
    spec: { parentRef },
  }) as unknown as Draft<IPAddress>;
const thing = { group: 'example.com', resource: 'things', name: 'a' };

describe('a store without IPAddresses', () => {
  it('gets those of its Services when the controllers start', async () => {
    const server = await startTestServer();
    const path = '/api/v1/namespaces/default/services';
    const made = await server.call('POST', path, serviceOf('old', '10.96.7.7'));
    assert.equal(made.status, 201, made.text);
    assert.equal((await server.call('GET', '/apis/networking.k8s.io/v1/ipaddresses/10.96.7.7')).status, 404);
    const cluster = await startCluster({ server });
    try {
      const parentOf = async () => (await cluster.get(ipAddressResource, '10.96.7.7'))?.spec.parentRef;
      await cluster.eventually('the IPAddress', async () => (await parentOf())?.name === 'old');
      assert.equal((await parentOf())?.namespace, 'default');
    } finally {
      await cluster.stop();
    }
  });
});

describe('ranges of Services', () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());
  const readyOf = async (name: string) =>
    (await cluster.get(serviceCIDRResource, name))?.status?.conditions?.find(({ type }) => type === 'Ready');
  const isReady = (name: string) => async () => (await readyOf(name))?.status === 'True';
  const create = (name: string, ip?: string) =>
    cluster.client.resource(serviceResource).create(serviceOf(name, ip));
  const addRange = async (name: string, ...cidrs: string[]) => {
    await cluster.client.resource(serviceCIDRResource).create(rangesOf(name, ...cidrs));
    await cluster.eventually('the range', isReady(name));
  };

  it('are those of the setting, as the ServiceCIDR kubernetes, which comes again after a deletion', async () => {
    await cluster.eventually('the default', isReady('kubernetes'));
    const found = await cluster.get(serviceCIDRResource, 'kubernetes');
    assert.deepEqual(found?.spec?.cidrs, ['10.96.0.0/16']);
    await cluster.client.resource(serviceCIDRResource).delete('kubernetes');
    const reason = async () => (await readyOf('kubernetes'))?.reason === 'Terminating';
    await cluster.eventually('the reason why it stays', reason);
    await addRange('wider', '10.96.0.0/15');
    const isNew = async () => {
      const { metadata } = (await cluster.get(serviceCIDRResource, 'kubernetes')) ?? {};
      return metadata !== undefined && metadata.uid !== found?.metadata.uid;
    };
    await cluster.eventually('a new default', isNew);
  });

  it('grow by a ServiceCIDR; an address outside all of them is refused', async () => {
    await assert.rejects(create('early', '203.0.113.7'), /the provided IP is not in the valid range/);
    await addRange('more', '203.0.113.0/24');
    await create('early', '203.0.113.7');
    await assert.rejects(create('twice', '203.0.113.7'), /provided IP is already allocated/);
    await assert.rejects(
      create('outside', '198.51.100.7'),
      /The range of valid IPs is 10\.96\.0\.0\/16, .*203\.0\.113\.0\/24/,
    );
    await cluster.eventually('the IPAddress', async () => cluster.get(ipAddressResource, '203.0.113.7'));
  });

  it('stay while a Service has an address of them', async () => {
    const api = cluster.client.resource(serviceCIDRResource);
    await api.delete('more');
    const isKept = async () => (await readyOf('more'))?.reason === 'Terminating';
    await cluster.eventually('the reason why it stays', isKept);
    await assert.rejects(create('late', '203.0.113.8'), /the provided IP is not in the valid range/);
    await cluster.pass(60_000);
    assert.ok(await cluster.get(serviceCIDRResource, 'more'));
    await cluster.client.resource(serviceResource).delete('early', 'default');
    const isGone = async () => (await cluster.get(serviceCIDRResource, 'more')) === undefined;
    await cluster.eventually('the end of the range', isGone);
    const hasNoAddress = async () => (await cluster.get(ipAddressResource, '203.0.113.7')) === undefined;
    await cluster.eventually('the end of the IPAddress', hasNoAddress);
  });

  it('leave out an address that an IPAddress of another kind reserves', async () => {
    const api = cluster.client.resource(ipAddressResource);
    await api.create(addressOf('10.96.5.5', thing));
    await assert.rejects(create('reserved', '10.96.5.5'), /provided IP is already allocated/);
    await api.delete('10.96.5.5');
    await create('reserved', '10.96.5.5');
    await assert.rejects(api.create(addressOf('10.96.5.5', thing)), /already exists/);
  });

  it('get a deleted IPAddress again, and one that names another Service', async () => {
    const api = cluster.client.resource(ipAddressResource);
    await create('kept', '10.96.6.6');
    const parentOf = async () => (await cluster.get(ipAddressResource, '10.96.6.6'))?.spec.parentRef.name;
    await cluster.eventually('the IPAddress', async () => (await parentOf()) === 'kept');
    await api.delete('10.96.6.6');
    await api
      .create(addressOf('10.96.6.6', { resource: 'services', namespace: 'default', name: 'x' }))
      .catch(() => undefined);
    await cluster.eventually('the repaired one', async () => (await parentOf()) === 'kept');
    assert.deepEqual([...cluster.refused], []);
  });
});
