/** Ranges of pod addresses on the real API server, with the controllers as they run in the product. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { createManager } from '../../../src/controller-runtime/manager.ts';
import { nodeIpam } from '../../../src/controllers/nodes/node-ipam.ts';
import { admin, startTestServer } from '../../fixtures/api-server.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { type Cluster, nodeInfo, startCluster } from './cluster.ts';

let cluster: Cluster;
before(async () => {
  cluster = await startCluster();
});
after(() => cluster.stop());

const capacity = { cpu: '4', memory: '8Gi', pods: '110' };
const add = (name: string, podCIDR?: string) =>
  cluster.addNode(name, capacity, podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] });
const rangeOf = (name: string) =>
  cluster.eventually(
    `${name} has a range`,
    async () => (await cluster.get(nodeResource, name))?.spec.podCIDR,
  );
const conflict = async (name: string) =>
  (await cluster.get(nodeResource, name))?.status?.conditions?.find(
    ({ type }) => type === 'NetworkUnavailable',
  );
const isTainted = async (name: string) =>
  (await cluster.get(nodeResource, name))?.spec.taints?.some(
    ({ key }) => key === 'node.kubernetes.io/network-unavailable',
  ) ?? false;

it('assigns ranges, keeps the ranges that nodes already have, and assigns a freed range again', async () => {
  await add('fixed', '10.244.0.0/24');
  await add('given');
  assert.equal(await rangeOf('given'), '10.244.1.0/24');
  assert.equal(await rangeOf('fixed'), '10.244.0.0/24');
  assert.equal(await conflict('fixed'), undefined);
  await cluster.client.resource(nodeResource).delete('fixed');
  await add('next');
  assert.equal(await rangeOf('next'), '10.244.0.0/24');
});

it('assigns no range to a Node without a machine, because the machine may have its own range', async () => {
  const nodes = cluster.client.resource(nodeResource);
  const made = await nodes.create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'awaited' },
    spec: {},
  });
  await add('other');
  await rangeOf('other');
  assert.equal((await nodes.get('awaited')).spec.podCIDR, undefined);
  const podCIDR = '10.244.77.0/24';
  await nodes.patch('awaited', '', 'merge', { spec: { podCIDR } });
  await nodes.patch(
    'awaited',
    '',
    'merge',
    { metadata: { uid: made.metadata.uid }, status: { nodeInfo } },
    'status',
  );
  await add('another');
  await rangeOf('another');
  assert.equal(await rangeOf('awaited'), podCIDR);
  for (const name of ['awaited', 'other', 'another']) await nodes.delete(name);
});

it('keeps pods away from a node with a taken range, reports why, and admits them when the range is free', async () => {
  await add('late', '10.244.1.0/25');
  const said = await cluster.eventually('the condition of the node is set', () => conflict('late'));
  assert.equal(said.status, 'True');
  assert.match(
    said.message ?? '',
    /10\.244\.1\.0\/25 of node late overlaps that of node given; delete the node/,
  );
  await cluster.eventually('the node is tainted', () => isTainted('late'));
  assert.equal(await rangeOf('late'), '10.244.1.0/25', 'what it came with is kept');
  assert.equal(await conflict('given'), undefined, 'who was there first keeps it');
  await cluster.eventually('an event reports it', async () =>
    (await cluster.list(eventResource, 'default')).some(
      ({ reason, involvedObject }) => reason === 'PodCIDRConflict' && involvedObject.name === 'late',
    ),
  );
  await cluster.client.resource(nodeResource).delete('given');
  await cluster.eventually('it can be used', async () => (await conflict('late'))?.status === 'False');
  await cluster.eventually('the taint is gone', async () => !(await isTainted('late')));
});

it('keeps pods away from a node whose range is outside the cluster', async () => {
  await add('foreign', '192.168.7.0/24');
  const said = await cluster.eventually('the condition of the node is set', () => conflict('foreign'));
  assert.match(said.message ?? '', /not inside the cluster-cidr 10\.244\.0\.0\/16/);
  await cluster.eventually('the node is tainted', () => isTainted('foreign'));
});

it('a node without a range gets the first range that is freed, and nothing is retried in between', async () => {
  const server = await startTestServer();
  const client = createClient(inProcessTransport(server.handlerFor(admin)));
  const base = { client, random: new SeededRandom(2), log: new RecordingLogger() };
  // The clock stands still, so no retry can be the cause.
  const clock = new FakeClock();
  const told: string[] = [];
  const events = { event: (_about: unknown, _type: string, reason: string) => void told.push(reason) };
  const informers = createInformerFactory({ ...base, clock: server.clock });
  const manager = createManager({ ...base, kinds: server.kinds, clock, events, informers });
  manager.add(nodeIpam({ clusterCidr: '10.244.0.0/23' }));
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  try {
    const nodes = client.resource(nodeResource);
    const rangeIn = async (name: string) => (await nodes.get(name)).spec.podCIDR;
    for (const name of ['a', 'b', 'c'])
      await nodes.create({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
        spec: {},
        status: { nodeInfo },
      });
    await eventually(server.clock, 'c is told', async () => told.includes('CIDRNotAvailable'));
    assert.equal(clock.pending, 0);
    assert.equal(await rangeIn('c'), undefined);
    const freed = await rangeIn('a');
    await nodes.delete('a');
    await eventually(server.clock, 'c has it', async () => (await rangeIn('c')) === freed);
  } finally {
    stop.abort();
    await running;
    await server.stop();
  }
});
