/** The control plane as a value: its start, its end, and the reproduction of its actions from one seed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Deployment, deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import type { Store } from '../../../src/storage/store.ts';
import { admin } from '../../fixtures/api-server.ts';
import { testAuthority } from '../../fixtures/certificates.ts';
import { createTestPlane } from '../../fixtures/control-plane.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { nodeInfo } from '../controllers/cluster.ts';

/** Returns every write, as it is stored. */
async function historyOf(store: Store): Promise<string[]> {
  const until = await store.currentRevision();
  const enough = new AbortController();
  const writes: string[] = [];
  store.requestProgress();
  for await (const { events, revision } of store.watch('/registry/', 0, enough.signal)) {
    for (const event of events) writes.push(`${event.key} ${event.type === 'put' ? event.value : 'deleted'}`);
    if (revision >= until) break;
    store.requestProgress();
  }
  return writes;
}

/** Asserts that nothing is pending except the pause between two events, which has no listener. */
async function assertAtRest(clock: FakeClock): Promise<void> {
  await clock.advance(5);
  assert.equal(clock.pending, 0);
}

test('equal seeds cause the same order of writes, and different seeds different orders', async () => {
  const authority = await testAuthority(new FakeClock().now());
  const live = async (settings: object = {}) => {
    const clock = new FakeClock();
    const store = createMemoryStore();
    const plane = await createTestPlane(clock, { store, authority, ...settings });
    const stop = new AbortController();
    const running = plane.run(stop.signal);
    await clock.until(Promise.race([plane.ready, running]));
    const client = plane.clientOf(admin);
    for (const name of ['n1', 'n2', 'n3']) {
      const nodes = client.resource(nodeResource);
      const node = await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: {} });
      const allocatable = { cpu: '4', memory: '8Gi', pods: '110' };
      const conditions = [{ type: 'Ready', status: 'True' as const }];
      await nodes.updateStatus({
        ...node,
        status: { allocatable, capacity: allocatable, conditions, nodeInfo },
      });
    }
    for (const name of ['a', 'b']) {
      const template = {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'app', image: 'app:1' }] },
      };
      await client.resource(deploymentResource).create({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name, namespace: 'default' },
        spec: { replicas: 10, selector: { matchLabels: { app: name } }, template },
      } as unknown as Draft<Deployment>);
    }
    await eventually(clock, 'all pods are bound', async () => {
      const { items } = await client.resource(podResource).list({ namespace: 'default' });
      return items.filter(({ spec }) => spec.nodeName).length === 20;
    });
    await clock.advance(120_000);
    stop.abort();
    await clock.until(running);
    await assertAtRest(clock);
    return historyOf(store);
  };
  const first = await live();
  assert.ok(first.length > 60, `${first.length} writes`);
  assert.deepEqual(await live(), first);
  assert.notDeepEqual(await live({ random: new SeededRandom(12) }), first);
});

test('no client is served before the cache, which admission and authorization read, is filled from the store', async () => {
  const clock = new FakeClock();
  const memory = createMemoryStore();
  const key = '/registry/resourcequotas/default/old';
  const metadata = {
    name: 'old',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '',
    creationTimestamp: '',
  };
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: { pods: '1' } } };
  await memory.create(key, Buffer.from(JSON.stringify(quota)));
  const gate = Promise.withResolvers<void>();
  const store: Store = {
    ...memory,
    list: async (prefix, options) => {
      await gate.promise;
      return memory.list(prefix, options);
    },
  };
  const plane = await createTestPlane(clock, { store });
  const stop = new AbortController();
  const seen: boolean[] = [];
  const running = plane.run(stop.signal, async () => {
    seen.push(plane.cache.get(key) !== undefined);
    return { closed: Promise.resolve() };
  });
  await clock.advance(10_000);
  assert.deepEqual(seen, []);
  gate.resolve();
  await clock.until(Promise.race([plane.ready, running]));
  assert.deepEqual(seen, [true]);
  stop.abort();
  await clock.until(running);
});

test('clients are served before the Service lists the master, and until all components that write have ended', async () => {
  const clock = new FakeClock();
  const plane = await createTestPlane(clock);
  const client = plane.clientOf(admin);
  const slices = async () =>
    (await client.resource(endpointSliceResource).list({ namespace: 'default' })).items.length;
  const leases = async () => (await client.resource(leaseResource).list({ namespace: 'kube-system' })).items;
  const seen: unknown[] = [];
  const stop = new AbortController();
  const running = plane.run(stop.signal, async (until) => {
    seen.push(['listens', await slices()]);
    const closed = Promise.withResolvers<void>();
    until.addEventListener('abort', async () => {
      // The Service no longer lists the master, and the API still answers.
      seen.push(['closes', (await leases()).length]);
      closed.resolve();
    });
    return { closed: closed.promise };
  });
  await clock.until(Promise.race([plane.ready, running]));
  assert.deepEqual([await slices(), (await leases()).length], [1, 1]);
  stop.abort();
  await clock.until(running);
  assert.deepEqual(seen, [
    ['listens', 0],
    ['closes', 0],
  ]);
  await assertAtRest(clock);
});

test('a failed start reports the reason, and leaves nothing running', async () => {
  const cannotListen = () => Promise.reject(new Error('the port is in use'));
  const clock = new FakeClock();
  const plane = await createTestPlane(clock);
  await assert.rejects(clock.until(plane.run(new AbortController().signal, cannotListen)), {
    message: 'the port is in use',
  });
  await assertAtRest(clock);
});

test('a control plane that is stopped before it is ready ends with the reason', async () => {
  const clock = new FakeClock();
  const plane = await createTestPlane(clock);
  const stop = new AbortController();
  const running = plane.run(stop.signal, async () => {
    stop.abort(new Error('changed my mind'));
    return { closed: Promise.resolve() };
  });
  await assert.rejects(clock.until(running), { message: 'changed my mind' });
  await assertAtRest(clock);
});
