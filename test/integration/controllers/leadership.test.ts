/**
 * The controllers of two masters on one store when the leader has not detected that it lost the
 * leadership.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Deployment, deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import type { Client } from '../../../src/client/client.ts';
import type { ControlPlaneOptions } from '../../../src/control-plane/control-plane.ts';
import { decodeObject } from '../../../src/storage/codec.ts';
import type { Store } from '../../../src/storage/store.ts';
import { admin } from '../../fixtures/api-server.ts';
import { createTestPlane } from '../../fixtures/control-plane.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { LaggingStore } from '../../fixtures/lagging-store.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

let seed = 100;

type Master = Awaited<ReturnType<typeof startMaster>>;

/**
 * Starts a master with its own view of the store and its own clock; a test may delay the calls of `store`.
 */
async function startMaster(
  context: TestContext,
  store: Store,
  sharesStore: ControlPlaneOptions['sharesStore'] = true,
) {
  const [clock, log, stop] = [new FakeClock(), new RecordingLogger(), new AbortController()];
  const plane = await createTestPlane(clock, {
    store,
    random: new SeededRandom(++seed),
    log,
    master: { address: `192.0.2.${seed}`, port: 6443, hostname: `master-${seed}`, version: '0.1.0' },
    sharesStore,
  });
  const running = plane.run(stop.signal);
  await clock.until(plane.ready);
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= (() => {
      stop.abort();
      return clock.until(running);
    })();
    return ended;
  };
  context.after(end);
  return {
    client: plane.clientOf(admin),
    clock,
    logged: (message: RegExp) => () => log.lines.some((line) => message.test(line.message)),
    stop: end,
  };
}

/** Step of a master's clock in milliseconds; a frozen master gets just enough time for events to arrive. */
const second = 1_000;
const frozen = 5;

/**
 * Waits until the probe returns true. Each master's clock advances by its own step, for a limited number of
 * steps.
 */
async function eventually(
  what: string,
  probe: () => Promise<boolean> | boolean,
  ...times: readonly (readonly [Master, number])[]
): Promise<void> {
  for (let step = 0; step < 200; step++) {
    for (const [{ clock }, ms] of times) await clock.advance(ms);
    if (await probe()) return;
  }
  throw new Error(`did not happen: ${what}`);
}

const deployment = (name: string, replicas: number): Draft<Deployment> =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'app', image: 'app:1' }] },
      },
    },
  }) as unknown as Draft<Deployment>;

const podsOf = async (client: Client, app: string) =>
  (await client.resource(podResource).list({ namespace: 'default', labelSelector: `app=${app}` })).items
    .length;

const holderOf = async (client: Client) =>
  (await client.resource(leaseResource).get('minik8s-controllers', 'kube-system')).spec.holderIdentity;

/** Returns how many pods of an app were ever created: a surplus pod is soon removed again. */
async function everMade(store: Store, app: string): Promise<number> {
  const until = await store.currentRevision();
  const names = new Set<string>();
  const enough = new AbortController();
  store.requestProgress();
  for await (const { events, revision } of store.watch('/registry/pods/', 0, enough.signal)) {
    for (const event of events) {
      if (event.type !== 'put') continue;
      const { metadata } = decodeObject(event.value, event.revision);
      if (metadata.labels?.app === app) names.add(metadata.name);
    }
    if (revision >= until) break;
    store.requestProgress();
  }
  return names.size;
}

test('a frozen leader repeats no write after another one leads', async (context) => {
  const memory = createMemoryStore();
  const store: Store = { ...memory, close: async () => undefined };
  const a = await startMaster(context, store);
  const { client } = a;
  await eventually('the first leads', a.logged(/became the leader/), [a, frozen]);
  await client.resource(deploymentResource).create(deployment('before', 3));
  await eventually('its pods', async () => (await podsOf(client, 'before')) === 3, [a, frozen]);
  const first = await holderOf(client);

  const b = await startMaster(context, store);
  // A is never informed that its lease has expired, and receives all events.
  const both = [
    [b, second],
    [a, frozen],
  ] as const;
  const leads = async () => (await holderOf(client)) !== first && b.logged(/became the leader/)();
  await eventually('the second leads', leads, ...both);
  for (let i = 0; i < 5; i++) await client.resource(deploymentResource).create(deployment(`after-${i}`, 4));
  for (let i = 0; i < 5; i++) {
    await eventually(
      `the pods of after-${i}`,
      async () => (await podsOf(client, `after-${i}`)) >= 4,
      ...both,
    );
  }
  await eventually('the first gives up the leadership', a.logged(/giving up the leadership/), ...both);
  for (const { clock } of [a, b]) await clock.advance(second);
  for (let i = 0; i < 5; i++) assert.equal(await everMade(memory, `after-${i}`), 4, `after-${i}`);
  assert.equal(await everMade(memory, 'before'), 3);
});

test('a master that was alone takes part in elections from the time at which the store is shared', async (context) => {
  const memory = createMemoryStore();
  const store: Store = { ...memory, close: async () => undefined };
  const begins = new AbortController();
  const order: string[] = [];
  const later = { begins: begins.signal, onEnded: () => void order.push('alone no more') };
  const a = await startMaster(context, store, later);
  const { client } = a;
  await client.resource(deploymentResource).create(deployment('before', 2));
  await eventually(
    'the pods exist without a leader election',
    async () => (await podsOf(client, 'before')) === 2,
    [a, second],
  );
  assert.equal(a.logged(/became the leader/)(), false);
  assert.deepEqual(order, []);

  begins.abort();
  await eventually('it leads', a.logged(/became the leader/), [a, second]);
  assert.deepEqual(order, ['alone no more']);
  const b = await startMaster(context, store);
  const both = [
    [a, second],
    [b, second],
  ] as const;
  await client.resource(deploymentResource).create(deployment('after', 3));
  await eventually('the pods of its term exist', async () => (await podsOf(client, 'after')) === 3, ...both);
  assert.equal(b.logged(/became the leader/)(), false);
  await a.stop();
  await eventually('the other leads', b.logged(/became the leader/), [b, second]);
  assert.equal(await everMade(memory, 'before'), 2);
});

test('writes that a leader sent before it lost the leadership, and that arrive later, are rejected', async (context) => {
  const memory = createMemoryStore();
  const store: Store = { ...memory, close: async () => undefined };
  const gate = { held: false, waiting: 0, open: Promise.withResolvers<void>() };
  const slow: Store = {
    ...store,
    async create(key, value, claims) {
      if (gate.held && key.startsWith('/registry/pods/')) {
        gate.waiting++;
        await gate.open.promise;
      }
      return store.create(key, value, claims);
    },
  };
  const a = await startMaster(context, slow);
  await eventually('the first leads', a.logged(/became the leader/), [a, frozen]);
  const b = await startMaster(context, store);
  const both = [
    [b, second],
    [a, frozen],
  ] as const;
  gate.held = true;
  await b.client.resource(deploymentResource).create(deployment('web', 4));
  await eventually('a request for a pod is in flight', () => gate.waiting > 0, [a, frozen], [b, frozen]);
  const first = await holderOf(b.client);
  const leads = async () => (await holderOf(b.client)) !== first && b.logged(/became the leader/)();
  await eventually('the second leads', leads, ...both);
  await eventually('its pods', async () => (await podsOf(b.client, 'web')) === 4, ...both);
  gate.held = false;
  gate.open.resolve();
  await eventually('the first gives up the leadership', a.logged(/giving up the leadership/), ...both);
  for (const { clock } of [a, b]) await clock.advance(second);
  assert.equal(await everMade(memory, 'web'), 4);
});

test('a new leader begins with the stored objects, although its own cache is behind', async (context) => {
  const memory = createMemoryStore();
  const store: Store = { ...memory, close: async () => undefined };
  const lagging = new LaggingStore(store);
  const a = await startMaster(context, store);
  await eventually('the first leads', a.logged(/became the leader/), [a, frozen]);
  const b = await startMaster(context, lagging.store);
  // The second master receives the ReplicaSet and none of its pods.
  lagging.holdEvents('/registry/pods/');
  await a.client.resource(deploymentResource).create(deployment('web', 3));
  await eventually('the pods', async () => (await podsOf(a.client, 'web')) === 3, [a, frozen]);
  await a.stop();
  const sets = b.client.resource(replicaSetResource);
  const known = async () => (await sets.list({ namespace: 'default', resourceVersion: '0' })).items;
  await eventually('the ReplicaSet', async () => (await known()).length === 1, [b, frozen]);
  await eventually('the second leads', b.logged(/became the leader/), [b, second]);
  // The second master now does everything that it would do when it sees no pods.
  for (let i = 0; i < 50; i++) await b.clock.advance(frozen);
  lagging.releaseEvents();
  await b.client.resource(deploymentResource).patch('web', 'default', 'merge', { spec: { replicas: 4 } });
  await eventually('the fourth', async () => (await podsOf(b.client, 'web')) === 4, [b, frozen]);
  assert.equal(await everMade(memory, 'web'), 4);
});
