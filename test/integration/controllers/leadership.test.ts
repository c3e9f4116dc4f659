/** The controllers of two masters on one store, when the leader does not notice that it leads no more. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Deployment, deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { podResource } from '../../../src/api/core/v1/pod.ts';
import { registry } from '../../../src/api/registry.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { systemUser } from '../../../src/apiserver/user.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { bootstrapObjects } from '../../../src/kube-apiserver/bootstrap.ts';
import { runControllers } from '../../../src/roles/control-plane/run-controllers.ts';
import { decodeObject } from '../../../src/storage/codec.ts';
import { createMemoryStore } from '../../../src/storage/memory.ts';
import type { Store } from '../../../src/storage/store.ts';
import { objectsAt, startTestServer } from '../../fixtures/api-server.ts';
import { certificatesOf, testAuthority } from '../../fixtures/certificates.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { LaggingStore } from '../../fixtures/lagging-store.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { eventually } from './cluster.ts';

let seed = 100;

/** `store` is what it has for itself: a test may hold its calls back. */
async function startMaster(context: TestContext, store: Store) {
  const server = await startTestServer({
    bare: true,
    // A read that its cache is too old for asks the store after a moment.
    clock: systemClock,
    wrapStore: () => store,
    random: new SeededRandom(++seed),
  });
  await bootstrapObjects(server, objectsAt(6443));
  const clientOf = (component: string, through?: Store) =>
    createClient(inProcessTransport(server.handlerFor(systemUser(component), through)));
  const [clock, log, stop] = [new FakeClock(), new RecordingLogger(), new AbortController()];
  const running = runControllers(
    {
      clock,
      log,
      random: new SeededRandom(++seed),
      settings: {
        'etcd-endpoints': ['http://127.0.0.1:2379'],
        'service-cidr': '10.96.0.0/16',
        'cluster-cidr': '10.244.0.0/16',
        'cluster-domain': 'cluster.local',
        'node-approval': 'auto',
        'node-monitor-grace-period': 40_000,
        'scheduler-policy': 'Default',
      },
      kinds: new KindSet(registry),
      certificates: certificatesOf(await testAuthority()),
    },
    { store, clientOf },
    stop.signal,
  );
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= (async () => {
      stop.abort();
      await clock.advance(6_000);
      await running;
      await server.stop();
    })();
    return ended;
  };
  context.after(end);
  const logged = (message: RegExp) => () =>
    Promise.resolve(log.lines.some((line) => message.test(line.message)));
  return {
    client: clientOf('admin'),
    clock,
    logged,
    stop: end,
  };
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

/** How many pods of an app have ever been made: one too many is soon removed again. */
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

test('a frozen leader writes nothing twice once another leads', async (context) => {
  const memory = createMemoryStore();
  const store: Store = { ...memory, close: async () => undefined };
  const a = await startMaster(context, store);
  const { client } = a;
  await eventually('the first leads', a.logged(/became the leader/));
  await client.resource(deploymentResource).create(deployment('before', 3));
  await eventually('its pods', async () => (await podsOf(client, 'before')) === 3);
  const first = await holderOf(client);

  const b = await startMaster(context, store);
  // Only B's time goes on: A never learns that its lease has run out, and hears of everything that happens.
  await eventually('the second leads', async () => {
    await b.clock.advance(1_000);
    return (await holderOf(client)) !== first && b.logged(/became the leader/)();
  });
  for (let i = 0; i < 5; i++) await client.resource(deploymentResource).create(deployment(`after-${i}`, 4));
  for (let i = 0; i < 5; i++) {
    await eventually(`the pods of after-${i}`, async () => (await podsOf(client, `after-${i}`)) >= 4);
  }
  await eventually('the first gives up', a.logged(/giving up the leadership/));
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (let i = 0; i < 5; i++) assert.equal(await everMade(memory, `after-${i}`), 4, `after-${i}`);
  assert.equal(await everMade(memory, 'before'), 3);
  await a.stop();
  await b.stop();
});

test('writes that a leader had sent before it was deposed, and that arrive after, do not happen', async (context) => {
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
  await eventually('the first leads', a.logged(/became the leader/));
  const b = await startMaster(context, store);
  gate.held = true;
  await b.client.resource(deploymentResource).create(deployment('web', 4));
  await eventually('a pod under way', async () => gate.waiting > 0);
  const first = await holderOf(b.client);
  await eventually('the second leads', async () => {
    await b.clock.advance(1_000);
    return (await holderOf(b.client)) !== first && b.logged(/became the leader/)();
  });
  await eventually('its pods', async () => (await podsOf(b.client, 'web')) === 4);
  gate.held = false;
  gate.open.resolve();
  await eventually('the first gives up', a.logged(/giving up the leadership/));
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(await everMade(memory, 'web'), 4);
  await a.stop();
  await b.stop();
});

test('a new leader begins with what is stored, not with what its own cache has heard of', async (context) => {
  const memory = createMemoryStore();
  const store: Store = { ...memory, close: async () => undefined };
  const lagging = new LaggingStore(store);
  const a = await startMaster(context, store);
  await eventually('the first leads', a.logged(/became the leader/));
  const b = await startMaster(context, lagging.store);
  // The second hears of the ReplicaSet and of none of its pods.
  lagging.holdEvents('/registry/pods/');
  await a.client.resource(deploymentResource).create(deployment('web', 3));
  await eventually('the pods', async () => (await podsOf(a.client, 'web')) === 3);
  await a.stop();
  const sets = b.client.resource(replicaSetResource);
  const known = async () => (await sets.list({ namespace: 'default', resourceVersion: '0' })).items;
  await eventually('the ReplicaSet', async () => (await known()).length === 1);
  await eventually('the second leads', async () => {
    await b.clock.advance(1_000);
    return b.logged(/became the leader/)();
  });
  // Whatever it would do with no pods in sight it does now.
  for (let i = 0; i < 50; i++) await b.clock.settle();
  lagging.releaseEvents();
  await b.client.resource(deploymentResource).patch('web', 'default', 'merge', { spec: { replicas: 4 } });
  await eventually('the fourth', async () => (await podsOf(b.client, 'web')) === 4);
  assert.equal(await everMade(memory, 'web'), 4);
  await b.stop();
});
