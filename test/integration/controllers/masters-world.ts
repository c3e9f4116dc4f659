/**
 * Masters on one store, each with an API server and a cache of its own. Only tests move the clocks: each
 * master's, and that of the servers.
 */
import assert from 'node:assert/strict';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { type EndpointSubset, endpointsResource } from '../../../src/api/core/v1/service/endpoints.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { announceMaster } from '../../../src/control-plane/announce-master.ts';
import { bootstrapObjects } from '../../../src/kube-apiserver/bootstrap.ts';
import type { Store } from '../../../src/storage/store.ts';
import { admin, objectsAt, startTestServer } from '../../fixtures/api-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

let seed = 0;

/** The clock of all servers; their caches deliver events when it advances. */
export const serverClock = new FakeClock();

export async function startServer(store: Store) {
  const server = await startTestServer({
    bare: true,
    clock: serverClock,
    wrapStore: () => store,
    random: new SeededRandom(++seed),
    // A range small enough that both masters often try the same port.
    nodePorts: [30_000, 30_499],
  });
  const transport = inProcessTransport(server.handlerFor(admin));
  return { server, client: createClient(transport), transport };
}

/** Starts a master whose clock only the test moves; `cut` disconnects its store. */
export async function startMaster(store: Store, address: string, port = 6443) {
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
  const options = {
    client,
    clock,
    random,
    log,
    master: { address, port, hostname: address, version: '0.1.0' },
    objects: objectsAt(port),
    onPublished: published.resolve,
  };
  const running = announceMaster(options, stop.signal);
  await serverClock.until(published.promise);
  return {
    client,
    clock,
    log,
    link,
    async stop() {
      stop.abort();
      await serverClock.until(running);
      transport.close();
      await server.stop();
    },
  };
}

export type Master = Awaited<ReturnType<typeof startMaster>>;

export const leasesOf = async ({ client }: Master) =>
  (await client.resource(leaseResource).list({ namespace: 'kube-system' })).items.map(
    ({ spec }) => spec.holderIdentity,
  );

/**
 * Returns the addresses of the Service's slices. If the Endpoints differ, their addresses follow after `but`;
 * they must not differ for long.
 */
export async function endpointsOf(master: Master): Promise<string[]> {
  const [listed, also] = await Promise.all([slicesOf(master), subsetsOf(master)]);
  return listed.toSorted().join() === also.toSorted().join() ? listed : [...listed, 'but', ...also];
}

export async function subsetsOf({ client }: Master): Promise<string[]> {
  const { items } = await client.resource(endpointsResource).list({ namespace: 'default' });
  const texts = ({ addresses = [], ports = [] }: EndpointSubset) =>
    addresses.flatMap(({ ip }) => ports.map(({ port }) => `${ip}:${port}`));
  return items.flatMap(({ subsets = [] }) => subsets.flatMap(texts));
}

export async function slicesOf({ client }: Master): Promise<string[]> {
  const { items } = await client.resource(endpointSliceResource).list({
    namespace: 'default',
    labelSelector: 'kubernetes.io/service-name=kubernetes',
  });
  return items.flatMap(({ endpoints, ports }) =>
    endpoints.flatMap(({ addresses }) => addresses.map((address) => `${address}:${ports[0]?.port}`)),
  );
}

export async function lists(master: Master, expected: readonly string[]): Promise<void> {
  for (let passed = 0; ; passed += 5) {
    const now = await endpointsOf(master);
    if (now.join() === expected.join()) return;
    assert.ok(passed < 5_000, `${now.join()} instead of ${expected.join()}`);
    await arrive();
  }
}

/** Delivers everything that was written to its watches. */
export const arrive = (): Promise<void> => serverClock.advance(5);

/** Advances time in steps that are shorter than the renewal interval. */
export async function pass(ms: number, ...masters: readonly Master[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    for (const { clock } of masters) await clock.advance(1_000);
    await arrive();
  }
}

/** Returns a store that outlives the servers on it. */
export function sharedStore(): Store {
  const store = createMemoryStore();
  return { ...store, close: async () => undefined };
}

export async function firstServer(store: Store): Promise<void> {
  const { server } = await startServer(store);
  await bootstrapObjects(server, objectsAt(6443));
  await server.stop();
}
