/**
 * Services report which of their external addresses nodes do not serve, as machines and Services are added
 * and removed.
 */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { type Cluster, startCluster } from './cluster.ts';

const address = '203.0.113.8';
let cluster: Cluster;
before(async () => {
  cluster = await startCluster();
});
after(() => cluster.stop());

/** Creates a Service to which a load balancer has assigned the address. */
async function make(namespace: string): Promise<void> {
  const services = cluster.client.resource(serviceResource);
  await services.create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  } as unknown as Draft<Service>);
  const status = { loadBalancer: { ingress: [{ ip: address }] } };
  await services.patch('web', namespace, 'merge', { status }, 'status');
}
const says = (namespace: string, expected: string) =>
  cluster.eventually(`${namespace}: ${expected}`, async () => {
    const found = await cluster.get(serviceResource, 'web', namespace);
    const said = found?.status?.conditions?.find(({ type }) => type === 'minik8s.io/ExternalAddressesServed');
    return (said ? `${said.status} ${said.reason}` : 'nothing') === expected;
  });

it('a Service reports that an older Service of another namespace has its address, until that is deleted', async () => {
  for (const name of ['team-a', 'team-b'])
    await cluster.client
      .resource(namespaceResource)
      .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: {} });
  await make('team-b');
  await cluster.pass(2000);
  await make('team-a');
  await says('team-a', 'False AddressTaken');
  await says('team-b', 'nothing');
  await cluster.eventually('an event', async () =>
    (await cluster.list(eventResource, 'team-a')).some(
      ({ reason, message }) => reason === 'AddressTaken' && /the namespace team-b$/.test(message ?? ''),
    ),
  );
  await cluster.client.resource(serviceResource).delete('web', 'team-b');
  await says('team-a', 'nothing');
});

it('a Service reports that a joined node has its address, until that is deleted', async () => {
  await cluster.addNode('n1');
  const annotations = { 'minik8s.io/node-ip': address };
  await cluster.client.resource(nodeResource).patch('n1', '', 'merge', { metadata: { annotations } });
  await says('team-a', 'False AddressReserved');
  await cluster.client.resource(nodeResource).delete('n1');
  await says('team-a', 'nothing');
  assert.deepEqual(cluster.log.of('error'), []);
  assert.deepEqual([...cluster.refused], []);
});
