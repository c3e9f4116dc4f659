/** Several masters on one store: each an API server of its own, with its own cache. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { type EndpointSubset, endpointsResource } from '../../../src/api/core/v1/endpoints.ts';
import { type Service, serviceResource } from '../../../src/api/core/v1/service.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { isAlreadyExists, isConflict } from '../../../src/apimachinery/status-error.ts';
import { bootstrapObjects } from '../../../src/apiserver/bootstrap.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { leaseMs } from '../../../src/controllers/masters.ts';
import { planSlices } from '../../../src/controllers/masters-plan.ts';
import { announceMaster } from '../../../src/roles/control-plane/announce-master.ts';
import { createMemoryStore } from '../../../src/storage/memory.ts';
import type { Store } from '../../../src/storage/store.ts';
import { beginTerm, duringTerm } from '../../../src/storage/term.ts';
import { admin, startTestServer } from '../../fixtures/api-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

let seed = 0;

async function startServer(store: Store) {
  const server = await startTestServer({
    bare: true,
    wrapStore: () => store,
    random: new SeededRandom(++seed),
    // Few enough that the two often try the same.
    nodePorts: [30_000, 30_499],
  });
  const transport = inProcessTransport(server.handlerFor(admin));
  return { server, client: createClient(transport), transport };
}

/** A master whose clock only the test moves; `cut` takes its store away. */
async function startMaster(store: Store, address: string, port = 6443) {
  const link = { cut: false };
  const refuse = () => Promise.reject(new Error('the store is away'));
  const own: Store = {
    ...store,
    create: (...args) => (link.cut ? refuse() : store.create(...args)),
    update: (...args) => (link.cut ? refuse() : store.update(...args)),
    delete: (...args) => (link.cut ? refuse() : store.delete(...args)),
  };
  const { server, client, transport } = await startServer(own);
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const stop = new AbortController();
  const published = Promise.withResolvers<void>();
  const random = new SeededRandom(++seed);
  const options = { client, clock, random, log, master: { address, port }, onPublished: published.resolve };
  const running = announceMaster(options, stop.signal);
  await published.promise;
  return {
    client,
    clock,
    log,
    link,
    async stop() {
      stop.abort();
      await running;
      transport.close();
      await server.stop();
    },
  };
}

type Master = Awaited<ReturnType<typeof startMaster>>;

const leasesOf = async ({ client }: Master) =>
  (await client.resource(leaseResource).list({ namespace: 'kube-system' })).items.map(
    ({ spec }) => spec.holderIdentity,
  );

/** What the Service's slices list; its Endpoints must not list anything else for long. */
async function endpointsOf(master: Master): Promise<string[]> {
  const [listed, also] = await Promise.all([slicesOf(master), subsetsOf(master)]);
  return listed.toSorted().join() === also.toSorted().join() ? listed : [...listed, 'but', ...also];
}

async function subsetsOf({ client }: Master): Promise<string[]> {
  const { items } = await client.resource(endpointsResource).list({ namespace: 'default' });
  const texts = ({ addresses = [], ports = [] }: EndpointSubset) =>
    addresses.flatMap(({ ip }) => ports.map(({ port }) => `${ip}:${port}`));
  return items.flatMap(({ subsets = [] }) => subsets.flatMap(texts));
}

async function slicesOf({ client }: Master): Promise<string[]> {
  const { items } = await client.resource(endpointSliceResource).list({
    namespace: 'default',
    labelSelector: 'kubernetes.io/service-name=kubernetes',
  });
  return items.flatMap(({ endpoints, ports }) =>
    endpoints.flatMap(({ addresses }) => addresses.map((address) => `${address}:${ports[0]?.port}`)),
  );
}

async function lists(master: Master, expected: readonly string[]): Promise<void> {
  for (const deadline = Date.now() + 5_000; ; ) {
    const now = await endpointsOf(master);
    if (now.join() === expected.join()) return;
    assert.ok(Date.now() < deadline, `${now.join()} instead of ${expected.join()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Moves time on in steps that are shorter than a renewal. */
async function pass(ms: number, ...masters: readonly Master[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    for (const { clock } of masters) await clock.advance(1_000);
    // The caches hand out events by the real clock.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A store that outlives the servers on it. */
function sharedStore(): Store {
  const store = createMemoryStore();
  return { ...store, close: async () => undefined };
}

async function firstServer(store: Store): Promise<void> {
  const { server } = await startServer(store);
  await bootstrapObjects(server, { port: 6443 });
  await server.stop();
}

test('a master that stops before it was announced takes nothing back, and says nothing', async () => {
  const { server, client, transport } = await startServer(createMemoryStore());
  const log = new RecordingLogger();
  const master = { address: '192.0.2.11', port: 6443 };
  const deps = { clock: new FakeClock(), random: new SeededRandom(++seed), log };
  await announceMaster({ client, ...deps, master, onPublished: () => undefined }, AbortSignal.abort());
  assert.deepEqual([...log.of('warn'), ...log.of('error')], []);
  transport.close();
  await server.stop();
});

test('the Service lists the masters that are alive, and no other', async () => {
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
  // Thawed, it is back, and has taken nobody for dead.
  b.link.cut = false;
  await b.clock.advance(leaseMs + 2_000);
  await lists(a, ['192.0.2.11:6443', '192.0.2.12:6443']);
  await b.stop();
  await a.stop();
});

test('after the store was away for long, no master is taken for dead', async () => {
  const store = sharedStore();
  await firstServer(store);
  const masters = [await startMaster(store, '192.0.2.11'), await startMaster(store, '192.0.2.12')];
  const [a, b] = masters as [Master, Master];
  await lists(a, ['192.0.2.11:6443', '192.0.2.12:6443']);
  const before = (await a.client.resource(leaseResource).list({ namespace: 'kube-system' })).items;
  for (const { link } of masters) link.cut = true;
  await pass(2 * leaseMs, a, b);
  // One of them is back first.
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

test('an address that no living master has is listed no more', async () => {
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

test('what somebody does to the Service’s endpoints is put back', async () => {
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

test('two servers that allocate at once never give out one address, port or name twice', async () => {
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

test('a controller whose term is over changes nothing, whatever it sends', async () => {
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
  const made = await old.create(service('a'));
  const now = (await term(101)).resource(serviceResource);
  const before = await store.currentRevision();
  for (const late of [
    () => old.create(service('late')),
    () => old.update({ ...made, metadata: { ...made.metadata, labels: { late: 'yes' } } }),
    () => old.patch('a', 'default', 'merge', { metadata: { labels: { late: 'yes' } } }),
    () => old.delete('a', 'default'),
  ]) {
    await assert.rejects(
      late(),
      (error) => isConflict(error) && /the caller leads no more, and nothing was changed/.test(String(error)),
    );
  }
  assert.equal(await store.currentRevision(), before);
  assert.equal(over.length, 4);
  assert.equal((await old.get('a', 'default')).metadata.uid, made.metadata.uid);
  await now.delete('a', 'default');
  await server.stop();
});
