/**
 * Unreachable nodes on the real API server. The test moves the controllers' clock; the clock of everything
 * else advances only as far as events need to arrive.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { type Lease, leaseResource, nodeLeaseNamespace } from '../../../src/api/coordination/v1/lease.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { type Node, nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { podReady } from '../../../src/api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { isConflict } from '../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { rfc3339Micro } from '../../../src/base/time.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { createEventRecorder } from '../../../src/controller-runtime/event-recorder.ts';
import { createManager } from '../../../src/controller-runtime/manager.ts';
import { podGcController } from '../../../src/controllers/garbage/pod-gc.ts';
import { nodeLifecycle } from '../../../src/controllers/nodes/node-lifecycle.ts';
import { taintEvictionController } from '../../../src/controllers/nodes/taint-eviction.ts';
import { endpointSliceController } from '../../../src/controllers/services/endpointslice.ts';
import { replicaSetController } from '../../../src/controllers/workloads/replicas/replica-set.ts';
import { scheduler } from '../../../src/scheduler/scheduler.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const heartbeat = 10_000;
let server: TestServer;
let client: Client;
let clock: FakeClock;
let stop: () => Promise<void>;

beforeEach(async () => {
  server = await startTestServer({ defaultTolerations: { notReadySeconds: 300, unreachableSeconds: 20 } });
  client = createClient(inProcessTransport(server.handlerFor(admin)));
  clock = new FakeClock();
  const random = new SeededRandom(5);
  const base = { client, random, log: silentLogger };
  const informers = createInformerFactory({ ...base, clock: server.clock });
  const events = createEventRecorder({ ...base, clock: server.clock, component: 'controllers' });
  const manager = createManager({ ...base, kinds: server.kinds, clock, events, informers });
  for (const factory of [
    nodeLifecycle({ gracePeriodMs: 40_000 }),
    taintEvictionController,
    podGcController,
    replicaSetController,
    endpointSliceController,
    scheduler(),
  ])
    manager.add(factory);
  const stopping = new AbortController();
  const running = manager.run(stopping.signal);
  stop = async () => {
    stopping.abort();
    await running;
    await server.clock.until(events.stop());
    await server.stop();
  };
});
afterEach(() => stop());

/** Reports the node Ready and takes its lease, as an agent does when it starts or is back. */
async function report(name: string, seconds = 40): Promise<void> {
  const conditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
    type,
    status: type === 'Ready' ? 'True' : 'False',
  }));
  const allocatable = { cpu: '4', memory: '8Gi', pods: '110' };
  const body = { status: { conditions, allocatable, capacity: allocatable } };
  await client.resource(nodeResource).patch(name, '', 'merge', body, 'status');
  await renew(name, seconds);
}

async function addNode(name: string, seconds?: number): Promise<void> {
  await client
    .resource(nodeResource)
    .create({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: {} });
  await client.resource(leaseResource).create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: nodeLeaseNamespace },
    spec: { holderIdentity: name, leaseDurationSeconds: seconds ?? 40 },
  });
  await report(name, seconds);
}

let beats = 0;

async function renew(name: string, seconds = 40): Promise<void> {
  // A different time at each heartbeat, unrelated to the controllers' clock: the times that nodes write must
  // not matter.
  const renewTime = rfc3339Micro(beats++ * 1000);
  const spec: Lease['spec'] = { holderIdentity: name, leaseDurationSeconds: seconds, renewTime };
  await client.resource(leaseResource).patch(name, nodeLeaseNamespace, 'merge', { spec });
}

/** Advances time by `ms` while the nodes of `alive` continue to renew their leases. */
async function pass(ms: number, alive: readonly string[] = []): Promise<void> {
  for (let left = ms; left > 0; left -= heartbeat / 2) {
    await clock.advance(Math.min(left, heartbeat / 2));
    await Promise.all(alive.map((name) => renew(name)));
    await caughtUp();
  }
}

/** Both clocks advance a little, so that events arrive and failed calls are retried. */
async function eventually<T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T> {
  for (let passed = 0; passed < 5_000; passed += 5) {
    await clock.advance(5);
    await server.clock.advance(5);
    const value = await probe();
    if (value !== undefined && value !== false) return value;
  }
  throw new Error(`did not happen within five seconds: ${what}`);
}

/** Waits until the controllers have seen everything that was written before. */
async function caughtUp(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) {
    await server.clock.advance(5);
    await clock.settle();
  }
}

const node = (name: string): Promise<Node> => client.resource(nodeResource).get(name);
const ready = async (name: string) =>
  (await node(name)).status?.conditions?.find(({ type }) => type === 'Ready')?.status;
const taints = async (name: string) =>
  ((await node(name)).spec.taints ?? []).map(({ key, effect }) => `${key.split('/')[1]}:${effect}`);
const allPods = async () => (await client.resource(podResource).list({ namespace: 'default' })).items;

async function runPods(): Promise<void> {
  for (const pod of await allPods()) {
    if (!pod.spec.nodeName || podReady(pod) || pod.metadata.deletionTimestamp) continue;
    const ip = `10.244.0.${++addresses}`;
    const conditions = [{ type: 'Ready', status: 'True' }];
    const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions };
    await client.resource(podResource).patch(pod.metadata.name, 'default', 'merge', { status }, 'status');
  }
}
let addresses = 0;

async function deployWeb(replicas: number): Promise<void> {
  const labels = { app: 'web' };
  await client.resource(serviceResource).create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: labels, ports: [{ port: 80 }] },
  } as never);
  await client.resource(replicaSetResource).create({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
    },
  } as never);
  await eventually('all pods run', async () => {
    await runPods();
    return (await allPods()).filter(podReady).length === replicas;
  });
}

const endpoints = async () => {
  const { items } = await client.resource(endpointSliceResource).list({ namespace: 'default' });
  return items
    .filter(({ metadata }) => metadata.name !== 'kubernetes')
    .flatMap((slice) => slice.endpoints)
    .filter(({ conditions }) => conditions?.ready);
};
const podsOn = async (name: string) => (await allPods()).filter(({ spec }) => spec.nodeName === name);

describe('one of three nodes stops sending heartbeats', () => {
  const alive = ['n2', 'n3'];
  beforeEach(async () => {
    for (const name of ['n1', ...alive]) await addNode(name);
    await deployWeb(6);
    await eventually('six endpoints', async () => (await endpoints()).length === 6);
    assert.equal((await podsOn('n1')).length, 2);
  });

  it('counts as lost exactly after the grace period: its endpoints are removed at once, its pods after their toleration time', async () => {
    await pass(35_000, alive);
    assert.equal(await ready('n1'), 'True');
    assert.deepEqual(await taints('n1'), []);
    await pass(5_000, alive);
    await eventually('n1 is Unknown', async () => (await ready('n1')) === 'Unknown');
    await eventually('n1 is tainted', async () => (await taints('n1')).length === 2);
    assert.deepEqual(await taints('n1'), ['unreachable:NoSchedule', 'unreachable:NoExecute']);
    await eventually('its endpoints are gone', async () => (await endpoints()).length === 4);
    assert.ok((await endpoints()).every(({ nodeName }) => nodeName !== 'n1'));
    assert.ok((await podsOn('n1')).every((pod) => !pod.metadata.deletionTimestamp));
    const lost = (await client.resource(eventResource).list({ namespace: 'default' })).items;
    assert.ok(
      lost.some(({ reason, involvedObject }) => reason === 'NodeNotReady' && involvedObject.name === 'n1'),
    );

    await pass(15_000, alive);
    assert.ok(
      (await podsOn('n1')).every((pod) => !pod.metadata.deletionTimestamp),
      'the pods may stay 20 s',
    );
    await pass(5_000, alive);
    await eventually('its pods are being deleted', async () =>
      (await podsOn('n1')).every((pod) => pod.metadata.deletionTimestamp),
    );
    const why = (await podsOn('n1'))[0]?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.equal(why?.reason, 'DeletionByTaintManager');
    await eventually('they are replaced elsewhere although no agent confirms their end', async () => {
      await runPods();
      return (await endpoints()).length === 6 && (await podsOn('n1')).length === 2;
    });
    assert.ok((await endpoints()).every(({ nodeName }) => nodeName !== 'n1'));
  });

  it('its taints are removed and its pods stay if it returns in time', async () => {
    await pass(40_000, alive);
    await eventually('n1 is tainted', async () => (await taints('n1')).length === 2);
    await pass(15_000, alive);
    await report('n1');
    await eventually('its taints are gone', async () => (await taints('n1')).length === 0);
    await runPods();
    await pass(60_000, ['n1', ...alive]);
    assert.equal((await podsOn('n1')).filter((pod) => !pod.metadata.deletionTimestamp).length, 2);
    assert.equal((await allPods()).length, 6);
    await eventually('six endpoints', async () => (await endpoints()).length === 6);
  });

  it('its old pods end, and no pod runs twice, if it returns too late', async () => {
    await pass(40_000, alive);
    await eventually('n1 is tainted', async () => (await taints('n1')).length === 2);
    await pass(25_000, alive);
    await eventually('its pods are being deleted', async () =>
      (await podsOn('n1')).every((pod) => pod.metadata.deletionTimestamp),
    );
    await report('n1');
    for (const pod of await podsOn('n1'))
      if (pod.metadata.deletionTimestamp)
        await client.resource(podResource).delete(pod.metadata.name, 'default', { gracePeriodSeconds: 0 });
    await eventually('six pods exist, all of them ready', async () => {
      await runPods();
      return (await allPods()).length === 6 && (await allPods()).every(podReady);
    });
    await pass(60_000, ['n1', ...alive]);
    assert.equal((await allPods()).length, 6);
  });

  it('its pods are removed without an answer of the node if it has the taint out-of-service', async () => {
    await pass(40_000, alive);
    await eventually('n1 is tainted', async () => (await taints('n1')).length === 2);
    await pass(25_000, alive);
    await eventually('its pods are being deleted', async () =>
      (await podsOn('n1')).every((pod) => pod.metadata.deletionTimestamp),
    );
    await taintOutOfService('n1');
    await eventually('its pods are gone', async () => (await podsOn('n1')).length === 0);
  });
});

async function taintOutOfService(name: string): Promise<void> {
  for (;;) {
    const current = structuredClone(await node(name));
    current.spec.taints = [
      ...(current.spec.taints ?? []),
      { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' },
    ];
    try {
      await client.resource(nodeResource).update(current);
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

describe('all nodes stop sending heartbeats at once', () => {
  const all = ['n1', 'n2', 'n3'];
  beforeEach(async () => {
    for (const name of all) await addNode(name);
    await deployWeb(6);
    await eventually('six endpoints', async () => (await endpoints()).length === 6);
  });

  it('all nodes are Unknown, and no pod is changed; when the nodes return, everything is as before', async () => {
    await pass(300_000);
    for (const name of all) {
      assert.equal(await ready(name), 'Unknown');
      assert.deepEqual(await taints(name), ['unreachable:NoSchedule']);
    }
    assert.equal((await endpoints()).length, 6);
    // The first node that reports again does not affect the verdict on the others.
    await report('n1');
    await pass(30_000, ['n1']);
    assert.deepEqual(await taints('n2'), ['unreachable:NoSchedule']);
    for (const name of all) await report(name);
    for (const name of all) await eventually(name, async () => (await taints(name)).length === 0);
    assert.ok((await allPods()).every((pod) => !pod.metadata.deletionTimestamp && podReady(pod)));
  });

  it('the others count as lost a whole grace period after the first one returns', async () => {
    await pass(100_000);
    await report('n1');
    await pass(35_000, ['n1']);
    assert.equal((await endpoints()).length, 6);
    await pass(10_000, ['n1']);
    for (const name of ['n2', 'n3'])
      await eventually(`${name} evicts`, async () => (await taints(name)).includes('unreachable:NoExecute'));
    await eventually('their endpoints are gone', async () =>
      (await endpoints()).every(({ nodeName }) => nodeName === 'n1'),
    );
  });
});

it('a node with heartbeats rarer than the grace period has a grace period of two of them, with an event', async () => {
  for (const name of ['slow', 'n2']) await addNode(name, name === 'slow' ? 160 : 40);
  await pass(75_000, ['n2']);
  assert.equal(await ready('slow'), 'True', 'a heartbeat every 40 s is lost after 80 s');
  await pass(5_000, ['n2']);
  await eventually('it is lost', async () => (await ready('slow')) === 'Unknown');
  const { items } = await client.resource(eventResource).list({ namespace: 'default' });
  const warning = items.find(({ reason }) => reason === 'HeartbeatTooSlow');
  assert.equal(warning?.involvedObject.name, 'slow');
  assert.match(warning?.message ?? '', /every 40 s.*lost after 80 s.*--heartbeat-interval 10s/);
});

it('a node without any heartbeat gets no pods, and is Unknown after a minute', async () => {
  await addNode('n2');
  await client
    .resource(nodeResource)
    .create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'mute' }, spec: {} });
  await deployWeb(4);
  assert.equal((await podsOn('mute')).length, 0);
  await pass(55_000, ['n2']);
  assert.equal(await ready('mute'), undefined);
  await pass(5_000, ['n2']);
  await eventually('it is Unknown', async () => (await ready('mute')) === 'Unknown');
});

it('a node that waits for its approval does not count as lost', async () => {
  await addNode('n2');
  await client
    .resource(nodeResource)
    .create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'new' }, spec: {} });
  await client.resource(nodeResource).patch('new', '', 'merge', { status: { phase: 'Pending' } }, 'status');
  await pass(120_000, ['n2']);
  assert.equal(await ready('new'), undefined);
});

it('an eviction is cancelled when the taint is removed', async () => {
  await addNode('n1');
  await addNode('n2');
  const draft: Draft<Pod> = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'patient', namespace: 'default' },
    spec: {
      nodeName: 'n1',
      tolerations: [{ key: 'evict-me', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }],
      containers: [{ name: 'app', image: 'app:1' }],
    },
  } as unknown as Draft<Pod>;
  await client.resource(podResource).create(draft);
  const put = async (list: NonNullable<Node['spec']['taints']>) => {
    await client.resource(nodeResource).patch('n1', '', 'merge', { spec: { taints: list } });
    await caughtUp();
  };
  const both = ['n1', 'n2'];
  await put([{ key: 'evict-me', effect: 'NoExecute' }]);
  await pass(25_000, both);
  await put([]);
  await pass(30_000, both);
  assert.equal((await podsOn('n1'))[0]?.metadata.deletionTimestamp, undefined);
  await put([{ key: 'evict-me', effect: 'NoExecute' }]);
  await pass(25_000, both);
  assert.equal((await podsOn('n1'))[0]?.metadata.deletionTimestamp, undefined, 'its time begins anew');
  await pass(5_000, both);
  await eventually('it is being deleted', async () => (await podsOn('n1'))[0]?.metadata.deletionTimestamp);
});
