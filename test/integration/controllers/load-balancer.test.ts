/** Services of type LoadBalancer get the addresses of nodes, and report the reason if they have none. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { type Cluster, startCluster } from './cluster.ts';

let cluster: Cluster;
before(async () => {
  cluster = await startCluster();
  await addNode('n1', '192.0.2.7');
});
after(() => cluster.stop());

async function addNode(name: string, address: string): Promise<void> {
  await cluster.addNode(name);
  await setNode(name, address, 'True');
}
const setNode = (name: string, address: string, ready: string) =>
  cluster.client.resource(nodeResource).patch(
    name,
    '',
    'merge',
    {
      status: {
        addresses: [{ type: 'InternalIP', address }],
        conditions: [{ type: 'Ready', status: ready }],
        daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      },
    },
    'status',
  );

const make = (name: string, namespace: string, port: number, spec: object = {}) =>
  cluster.client.resource(serviceResource).create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { type: 'LoadBalancer', ports: [{ port }], ...spec },
  } as unknown as Draft<Service>);

const has = (name: string, namespace: string, expected: string) =>
  cluster.eventually(`${namespace}/${name}: ${expected}`, async () => {
    const { status } = (await cluster.get(serviceResource, name, namespace)) ?? {};
    const ips = (status?.loadBalancer.ingress ?? []).map(({ ip }) => ip);
    const said = status?.conditions?.find(({ type }) => type === 'minik8s.io/LoadBalancerServed');
    return [...ips, ...(said ? [said.reason] : [])].join(' ') === expected;
  });

it('a Service has the addresses of the ready nodes, as nodes are added and removed', async () => {
  await make('web', 'default', 80);
  await has('web', 'default', '192.0.2.7');
  await addNode('n2', '192.0.2.8');
  await has('web', 'default', '192.0.2.7 192.0.2.8');
  await setNode('n1', '192.0.2.7', 'False');
  await has('web', 'default', '192.0.2.8');
  await cluster.client.resource(nodeResource).delete('n2');
  await has('web', 'default', 'NoNode');
  await setNode('n1', '192.0.2.7', 'True');
  await has('web', 'default', '192.0.2.7');
});

it('a younger Service with the same port waits with the reason, and gets the port when the older one is deleted', async () => {
  await cluster.client
    .resource(namespaceResource)
    .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' }, spec: {} });
  await cluster.pass(2000);
  await make('web', 'team', 80);
  await has('web', 'team', 'PortTaken');
  await has('web', 'default', '192.0.2.7');
  await cluster.eventually('an event', async () =>
    (await cluster.list(eventResource, 'team')).some(
      ({ reason, message }) => reason === 'PortTaken' && /the namespace default$/.test(message ?? ''),
    ),
  );
  await cluster.client.resource(serviceResource).delete('web', 'default');
  await has('web', 'team', '192.0.2.7');
});

it('ports of the agents and of the range of node ports are refused with a message', async () => {
  await make('agent', 'default', 10250);
  await has('agent', 'default', 'PortReserved');
  await make('ranged', 'default', 30123);
  await has('ranged', 'default', 'PortReserved');
});

it('a Service of another type no longer has addresses or the condition', async () => {
  const services = cluster.client.resource(serviceResource);
  await services.patch('agent', 'default', 'merge', { spec: { type: 'ClusterIP' } });
  await services.delete('ranged', 'default');
  await services.patch('web', 'team', 'merge', { spec: { type: 'ClusterIP' } });
  await has('agent', 'default', '');
  await has('web', 'team', '');
});

it('an address that another controller wrote stays', async () => {
  await make('other', 'default', 8080);
  await has('other', 'default', '192.0.2.7');
  const status = { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } };
  await cluster.client.resource(serviceResource).patch('other', 'default', 'merge', { status }, 'status');
  await setNode('n1', '192.0.2.9', 'True');
  await make('mine', 'default', 8081);
  await has('mine', 'default', '192.0.2.9');
  await has('other', 'default', '203.0.113.9');
});

const pool = { namespace: 'kube-system', name: 'load-balancer-pool' };
const setPool = (addresses: string) =>
  cluster.client
    .resource(configMapResource)
    .patch(pool.name, pool.namespace, 'merge', { data: { addresses } });
/** Names of the Leases that reserve addresses, with the Service of each. */
const reserved = async () =>
  (await cluster.list(leaseResource, 'kube-system'))
    .filter(({ metadata }) => metadata.name.startsWith('load-balancer.'))
    .map(
      ({ metadata }) =>
        `${metadata.name.slice('load-balancer.'.length)} ${metadata.annotations?.['minik8s.io/load-balancer-service']}`,
    )
    .sort();
const isReserved = (...expected: readonly string[]) =>
  cluster.eventually(
    `reserved: ${expected.join()}`,
    async () => (await reserved()).join() === expected.join(),
  );

it('with a pool, Services have an address each, which is reserved; the class of the nodes selects those', async () => {
  await cluster.client.resource(configMapResource).create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: pool,
    // The first is the address of a node.
    data: { addresses: '192.0.2.9, 198.51.100.8/31' },
  });
  await has('mine', 'default', '198.51.100.8');
  await make('nodes', 'default', 8081, { loadBalancerClass: 'minik8s.io/nodes' });
  await has('nodes', 'default', '192.0.2.9');
  await make('second', 'default', 8081, { loadBalancerIP: '198.51.100.9' });
  await has('second', 'default', '198.51.100.9');
  await has('other', 'default', '203.0.113.9');
  await isReserved('198.51.100.8 default/mine', '198.51.100.9 default/second');
});

it('an exhausted pool is reported, and a freed address goes to a Service that waits', async () => {
  await make('third', 'default', 80);
  await has('third', 'default', 'PoolExhausted');
  await cluster.eventually('an event', async () =>
    (await cluster.list(eventResource, 'default')).some(
      ({ reason, message }) => reason === 'PoolExhausted' && /none of the 3 addresses/.test(message ?? ''),
    ),
  );
  await cluster.client.resource(serviceResource).delete('mine', 'default');
  await has('third', 'default', '198.51.100.8');
  await isReserved('198.51.100.8 default/third', '198.51.100.9 default/second');
  await make('fourth', 'default', 80);
  await has('fourth', 'default', 'PoolExhausted');
  await setPool('192.0.2.9, 198.51.100.8-198.51.100.10');
  await has('fourth', 'default', '198.51.100.10');
});

it('two Services that are created at once never share an address', async () => {
  await setPool('198.51.100.8-198.51.100.40');
  const names = Array.from({ length: 20 }, (_, index) => `many-${index}`);
  await Promise.all(names.map((name) => make(name, 'default', 80)));
  await cluster.eventually('all have one', async () => (await reserved()).length === 23);
  const all = await cluster.list(serviceResource, 'default');
  const addresses = all.flatMap(({ status }) => (status?.loadBalancer.ingress ?? []).map(({ ip }) => ip));
  const pooled = addresses.filter((ip) => ip?.startsWith('198.51.100.'));
  assert.equal(new Set(pooled).size, pooled.length);
  for (const name of names) await cluster.client.resource(serviceResource).delete(name, 'default');
  await cluster.eventually('all are free', async () => (await reserved()).length === 3);
});

it('an invalid pool changes no address and is reported; a removed Lease is created again', async () => {
  await setPool('nonsense');
  await has('third', 'default', '198.51.100.8 PoolInvalid');
  await setPool('198.51.100.8-198.51.100.10');
  await has('third', 'default', '198.51.100.8');
  await cluster.client.resource(leaseResource).delete('load-balancer.198.51.100.8', 'kube-system');
  await isReserved(
    '198.51.100.10 default/fourth',
    '198.51.100.8 default/third',
    '198.51.100.9 default/second',
  );
  await has('third', 'default', '198.51.100.8');
});

it('without ready nodes the address is kept with the reason, and without the pool nodes serve again', async () => {
  await setNode('n1', '192.0.2.9', 'False');
  await has('third', 'default', '198.51.100.8 NoNode');
  await setNode('n1', '192.0.2.9', 'True');
  await has('third', 'default', '198.51.100.8');
  await cluster.client.resource(configMapResource).delete(pool.name, pool.namespace);
  await has('third', 'default', '192.0.2.9');
  await isReserved();
  assert.deepEqual(cluster.log.of('error'), []);
  assert.deepEqual([...cluster.refused], []);
});
