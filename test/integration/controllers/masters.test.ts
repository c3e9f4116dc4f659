/** Several masters on one store, each with an API server and a cache of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { hostnameAnnotation } from '../../../src/api/coordination/v1/master-lease.ts';
import { endpointsResource } from '../../../src/api/core/v1/service/endpoints.ts';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { isAlreadyExists, isConflict } from '../../../src/apimachinery/status-error.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { announceMaster } from '../../../src/control-plane/announce-master.ts';
import { leaseMs } from '../../../src/controllers/masters/masters.ts';
import { planSlices } from '../../../src/controllers/masters/masters-plan.ts';
import { beginTerm, duringTerm } from '../../../src/storage/term.ts';
import { admin, objectsAt } from '../../fixtures/api-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import {
  firstServer,
  leasesOf,
  lists,
  type Master,
  pass,
  serverClock,
  sharedStore,
  startMaster,
  startServer,
} from './masters-world.ts';

test('a master that stops before it was announced removes nothing and logs nothing', async () => {
  const { server, client, transport } = await startServer(createMemoryStore());
  const log = new RecordingLogger();
  const master = { address: '192.0.2.11', port: 6443, hostname: 'a', version: '0.1.0' };
  const deps = { clock: new FakeClock(), random: new SeededRandom(1), log };
  await announceMaster(
    { client, ...deps, master, objects: objectsAt(6443), onPublished: () => undefined },
    AbortSignal.abort(),
  );
  assert.deepEqual([...log.of('warn'), ...log.of('error')], []);
  transport.close();
  await server.stop();
});

test('the Service lists exactly the live masters', async () => {
  const store = sharedStore();
  await firstServer(store);
  const a = await startMaster(store, '192.0.2.11');
  await lists(a, ['192.0.2.11:6443']);
  const b = await startMaster(store, '192.0.2.12');
  await lists(a, ['192.0.2.11:6443', '192.0.2.12:6443']);
  const c = await startMaster(store, '192.0.2.12', 7443);
  await lists(b, ['192.0.2.11:6443', '192.0.2.12:6443', '192.0.2.12:7443']);
  await pass(3 * leaseMs, a, b, c);
  await lists(c, ['192.0.2.11:6443', '192.0.2.12:6443', '192.0.2.12:7443']);
  await c.stop();
  await lists(a, ['192.0.2.11:6443', '192.0.2.12:6443']);

  // B freezes: its clock stands still, and it writes nothing.
  b.link.cut = true;
  await pass(leaseMs - 5_000, a);
  await lists(a, ['192.0.2.11:6443', '192.0.2.12:6443']);
  await pass(7_000, a);
  await lists(a, ['192.0.2.11:6443']);
  assert.deepEqual(await leasesOf(a), ['192.0.2.11:6443']);
  const [lease] = (await a.client.resource(leaseResource).list({ namespace: 'kube-system' })).items;
  assert.equal(
    lease?.metadata.annotations?.[hostnameAnnotation],
    '192.0.2.11',
    'its certificate has that name',
  );
  // B is no longer frozen, and has declared no other master dead.
  b.link.cut = false;
  await b.clock.advance(leaseMs + 2_000);
  await lists(a, ['192.0.2.11:6443', '192.0.2.12:6443']);
  await b.stop();
  await a.stop();
});

test('after a long outage of the store no master counts as dead', async () => {
  const store = sharedStore();
  await firstServer(store);
  const masters = [await startMaster(store, '192.0.2.11'), await startMaster(store, '192.0.2.12')];
  const [a, b] = masters as [Master, Master];
  await lists(a, ['192.0.2.11:6443', '192.0.2.12:6443']);
  const before = (await a.client.resource(leaseResource).list({ namespace: 'kube-system' })).items;
  for (const { link } of masters) link.cut = true;
  await pass(2 * leaseMs, a, b);
  // One of the masters is back first.
  a.link.cut = false;
  await pass(3_000, a, b);
  b.link.cut = false;
  await pass(5_000, a, b);
  await lists(a, ['192.0.2.11:6443', '192.0.2.12:6443']);
  const after = (await a.client.resource(leaseResource).list({ namespace: 'kube-system' })).items;
  assert.deepEqual(
    after.map(({ metadata }) => metadata.uid),
    before.map(({ metadata }) => metadata.uid),
  );
  for (const master of masters) await master.stop();
});

test('an address that no living master has is removed', async () => {
  const store = sharedStore();
  await firstServer(store);
  const { server, client, transport } = await startServer(store);
  for (const slice of planSlices([{ address: '192.0.2.9', port: 6443 }], []).create) {
    await client.resource(endpointSliceResource).create(slice);
  }
  transport.close();
  await server.stop();
  const a = await startMaster(store, '192.0.2.11');
  await lists(a, ['192.0.2.11:6443']);
  await a.stop();
});

test('changes by other clients to the endpoints of the Service are reverted', async () => {
  const store = sharedStore();
  await firstServer(store);
  const a = await startMaster(store, '192.0.2.11');
  const slices = a.client.resource(endpointSliceResource);
  await slices.delete('kubernetes', 'default');
  await lists(a, ['192.0.2.11:6443']);
  const slice = await slices.get('kubernetes', 'default');
  await slices.update({ ...slice, endpoints: [] });
  await lists(a, ['192.0.2.11:6443']);
  const endpoints = a.client.resource(endpointsResource);
  await endpoints.delete('kubernetes', 'default');
  await lists(a, ['192.0.2.11:6443']);
  await endpoints.update({ ...(await endpoints.get('kubernetes', 'default')), subsets: [] });
  await lists(a, ['192.0.2.11:6443']);
  await a.client.resource(leaseResource).delete('apiserver-192.0.2.11-6443', 'kube-system');
  await pass(2_000, a);
  assert.deepEqual(await leasesOf(a), ['192.0.2.11:6443']);
  await a.stop();
});

test('two servers that allocate at the same time never allocate an address, port or name twice', async () => {
  const store = sharedStore();
  await firstServer(store);
  const servers = [await startServer(store), await startServer(store)];
  const draft = (name: string): Draft<Service> => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { type: 'NodePort', ports: [{ port: 80, protocol: 'TCP' }] } as Service['spec'],
  });
  const making = servers.flatMap(({ client }, server) =>
    Array.from({ length: 200 }, (_, i) => client.resource(serviceResource).create(draft(`s${server}-${i}`))),
  );
  const made = await Promise.all(making);
  assert.equal(new Set(made.map(({ spec }) => spec.clusterIP)).size, 400);
  assert.equal(new Set(made.map(({ spec }) => spec.ports?.[0]?.nodePort)).size, 400);
  const contested = await Promise.allSettled(
    servers.flatMap(({ client }) =>
      Array.from({ length: 50 }, (_, i) => client.resource(serviceResource).create(draft(`both-${i}`))),
    ),
  );
  const won = contested.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  assert.equal(won.length, 50);
  for (const result of contested) {
    if (result.status === 'rejected') assert.ok(isAlreadyExists(result.reason), String(result.reason));
  }
  const all = [...made, ...won];
  assert.equal(new Set(all.map(({ spec }) => spec.clusterIP)).size, 450);
  assert.equal(new Set(all.map(({ spec }) => spec.ports?.[0]?.nodePort)).size, 450);
  for (const { server, transport } of servers) {
    transport.close();
    await server.stop();
  }
});

test('no write of a controller whose term has ended takes effect', async () => {
  const store = sharedStore();
  await firstServer(store);
  const { server } = await startServer(store);
  const over: string[] = [];
  const term = async (number: number) => {
    const fenced = duringTerm(store, await beginTerm(store, 'lock', number), (why) => over.push(why));
    return createClient(inProcessTransport(server.handlerFor(admin, fenced)));
  };
  const service = (name: string): Draft<Service> => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { ports: [{ port: 80, protocol: 'TCP' }] } as Service['spec'],
  });
  const old = (await term(100)).resource(serviceResource);
  const made = await serverClock.until(old.create(service('a')));
  const now = (await term(101)).resource(serviceResource);
  const before = await store.currentRevision();
  for (const late of [
    () => old.create(service('late')),
    () => old.update({ ...made, metadata: { ...made.metadata, labels: { late: 'yes' } } }),
    () => old.patch('a', 'default', 'merge', { metadata: { labels: { late: 'yes' } } }),
    () => old.delete('a', 'default'),
  ]) {
    await assert.rejects(
      serverClock.until<unknown>(late()),
      (error) =>
        isConflict(error) &&
        /the caller is no longer the leader, and nothing was changed/.test(String(error)),
    );
  }
  assert.equal(await store.currentRevision(), before);
  assert.equal(over.length, 4);
  assert.equal((await serverClock.until(old.get('a', 'default'))).metadata.uid, made.metadata.uid);
  await serverClock.until(now.delete('a', 'default'));
  await server.stop();
});
