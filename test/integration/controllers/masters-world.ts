/**
 * Masters on one store, each an API server of its own with its own cache. Only tests move the clocks: each master's, and that of
 * the servers.
 */
import assert from 'node:assert/strict';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { type EndpointSubset, endpointsResource } from '../../../src/api/core/v1/endpoints.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { announceMaster } from '../../../src/control-plane/announce-master.ts';
import { bootstrapObjects } from '../../../src/kube-apiserver/bootstrap.ts';
import { createMemoryStore } from '../../../src/storage/memory.ts';
import type { Store } from '../../../src/storage/store.ts';
import { admin, objectsAt, startTestServer } from '../../fixtures/api-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

let seed = 0;

/** Of all servers: their caches hand out events by it. */
export const serverClock = new FakeClock();

export async function startServer(store: Store) {
  const server = await startTestServer({
    bare: true,
    clock: serverClock,
    wrapStore: () => store,
    random: new SeededRandom(++seed),
    // Few enough that the two often try the same.
    nodePorts: [30_000, 30_499],
  });
  const transport = inProcessTransport(server.handlerFor(admin));
  return { server, client: createClient(transport), transport };
}

/** A master whose clock only the test moves; `cut` takes its store away. */
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
    master: { address, port, hostname: address },
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

/** What the Service's slices list; its Endpoints must not list anything else for long. */
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

/** Everything that was written arrives where it is watched. */
export const arrive = (): Promise<void> => serverClock.advance(5);

/** Moves time on in steps that are shorter than a renewal. */
export async function pass(ms: number, ...masters: readonly Master[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    for (const { clock } of masters) await clock.advance(1_000);
    await arrive();
  }
}

/** A store that outlives the servers on it. */
export function sharedStore(): Store {
  const store = createMemoryStore();
  return { ...store, close: async () => undefined };
}

export async function firstServer(store: Store): Promise<void> {
  const { server } = await startServer(store);
  await bootstrapObjects(server, objectsAt(6443));
  await server.stop();
}
