/** Client, informers, controllers, election and events against the real API server over the memory store. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { type ConfigMap, configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { type Secret, secretResource } from '../../../src/api/core/v1/secret.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import { controllerOf, objectKey, splitKey } from '../../../src/apimachinery/meta.ts';
import {
  isAlreadyExists,
  isConflict,
  isExpired,
  isInvalid,
  isNotFound,
} from '../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import type { InformerFactory } from '../../../src/client/informer.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { type ControllerFactory, watched } from '../../../src/controller-runtime/definition.ts';
import { createEventRecorder } from '../../../src/controller-runtime/event-recorder.ts';
import { runLeaderElection } from '../../../src/controller-runtime/leader-election.ts';
import { createManager } from '../../../src/controller-runtime/manager.ts';
import { ObservedWrites, verifyAfter } from '../../../src/controller-runtime/observed-writes.ts';
import {
  byController,
  controlledBy,
  controllerIndex,
  ownedBy,
  ownKey,
} from '../../../src/controller-runtime/owner.ts';
import { registry } from '../../../src/features/kinds.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

let server: TestServer;
let client: Client;
const random = new SeededRandom(3);

before(async () => {
  server = await startTestServer();
  client = createClient(inProcessTransport(server.handlerFor(admin)), { clock: server.clock });
});

after(async () => {
  await server.stop();
});

async function inNamespace(name: string): Promise<string> {
  await client
    .resource(namespaceResource)
    .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as never);
  return name;
}

const configMap = (namespace: string, name: string, data: Record<string, string> = {}) =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data }) as const;

const until = (what: string, condition: () => boolean | Promise<boolean>) =>
  eventually(server.clock, what, condition);

const factoryFor = (to: Client): InformerFactory =>
  createInformerFactory({ client: to, clock: server.clock, random, log: silentLogger, pageSize: 7 });

/** Creates `data.copies` Secrets for a ConfigMap: a replica set without the pods. */
const copier: ControllerFactory = ({ client: api, informers, clock }) => {
  const configMaps = informers.informerFor(configMapResource);
  const secrets = informers.informerFor(secretResource);
  const writes = new ObservedWrites(api, secretResource, secrets);
  secrets.addIndex(controllerIndex, byController);

  const create = async (owner: ConfigMap) => {
    const { namespace = '', name, uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }];
    const metadata = { namespace, generateName: `${name}-`, ownerReferences };
    const made = await api
      .resource(secretResource)
      .create({ apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' } as never);
    writes.written(objectKey(owner), made, clock.now());
  };

  return {
    name: 'copier',
    watches: [watched(configMapResource, ownKey), watched(secretResource, ownedBy('ConfigMap'))],
    async reconcile(key) {
      const owner = configMaps.lister.get(key);
      if (owner?.data?.copies === undefined) return undefined;
      if (!(await writes.settled(key, clock.now()))) return { requeueAfter: verifyAfter };
      const mine = secrets.lister.byIndex(controllerIndex, controlledBy(owner));
      const missing = Number(owner.data.copies) - mine.length;
      if (missing > 0) {
        await Promise.all(Array.from({ length: missing }, () => create(owner)));
      } else if (missing < 0) {
        const spare = mine.slice(missing);
        const { namespace } = splitKey(key);
        await Promise.all(
          spare.map(async (secret) => {
            const { name, uid } = secret.metadata;
            await api.resource(secretResource).delete(name, namespace, { preconditions: { uid } });
            writes.removed(key, secret, clock.now());
          }),
        );
      }
      return undefined;
    },
  };
};

test('errors of the server reach the caller with their reason', async () => {
  const namespace = await inNamespace('errors');
  const maps = client.resource(configMapResource);
  const made = await maps.create(configMap(namespace, 'one', { a: '1' }));
  await assert.rejects(maps.create(configMap(namespace, 'one')), isAlreadyExists);
  await assert.rejects(maps.get('two', namespace), isNotFound);
  const changed = await maps.update({ ...made, data: { a: '2' } });
  await assert.rejects(maps.update({ ...made, data: { a: '3' } }), isConflict);
  await assert.rejects(maps.create(configMap(namespace, 'Not A Name')), isInvalid);
  await assert.rejects(
    maps.delete('one', namespace, { preconditions: { resourceVersion: made.metadata.resourceVersion } }),
    isConflict,
  );
  for (const type of ['merge', 'strategic'] as const) {
    const patched = await maps.patch('one', namespace, type, { data: { [type]: 'x' } });
    assert.equal(patched.data?.[type], 'x');
  }
  const operations = [{ op: 'remove', path: '/data/merge' }];
  const patched = await maps.patch('one', namespace, 'json', operations);
  assert.deepEqual(patched.data, { a: '2', strategic: 'x' });
  assert.notEqual(patched.metadata.resourceVersion, changed.metadata.resourceVersion);
  await maps.delete('one', namespace);
});

test('an informer follows the server through writes in many pages, and its store stays equal', async () => {
  const namespace = await inNamespace('informers');
  const maps = client.resource(configMapResource);
  for (let i = 0; i < 30; i++) await maps.create(configMap(namespace, `map-${i}`));
  const informers = factoryFor(client);
  const informer = informers.informerFor(configMapResource, { namespace });
  const stop = new AbortController();
  await server.clock.until(informers.start(stop.signal));
  assert.equal(informer.lister.list().length, 30);
  for (let step = 0; step < 200; step++) {
    const name = `map-${random.below(40)}`;
    const key = `${namespace}/${name}`;
    const write = random.below(3)
      ? maps.patch(name, namespace, 'merge', { data: { step: String(step) } })
      : maps.delete(name, namespace);
    await write.catch(async (error) => {
      assert.ok(isNotFound(error), `${key}: ${error}`);
      await maps.create(configMap(namespace, name));
    });
  }
  const versions = (items: readonly ConfigMap[]) =>
    items.map((item) => `${objectKey(item)}@${item.metadata.resourceVersion}`).sort();
  const wanted = versions((await maps.list({ namespace })).items);
  await until(
    'the informer with all changes',
    () => versions(informer.lister.list()).join() === wanted.join(),
  );
  stop.abort();
  await informers.stopped();
});

test('a watch from a compacted version is Expired', async () => {
  const before = await startTestServer();
  await before.store.compact(await before.store.currentRevision());
  const late = await startTestServer({ bare: true, wrapStore: () => before.store });
  const maps = createClient(inProcessTransport(late.handlerFor(admin))).resource(configMapResource);
  const watching = (async () => {
    for await (const _ of maps.watch({ resourceVersion: '1', signal: AbortSignal.timeout(120_000) }));
  })();
  await assert.rejects(watching, isExpired);
  await late.stop();
  await before.stop();
});

test('a controller converges, never overshoots, and reverts changes by other clients', async () => {
  const namespace = await inNamespace('copies');
  const informers = factoryFor(client);
  const events = { event: () => undefined };
  const manager = createManager({
    client,
    informers,
    kinds: new KindSet(registry),
    events,
    clock: server.clock,
    random,
    log: silentLogger,
  });
  manager.add(copier);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const maps = client.resource(configMapResource);
  const secrets = client.resource(secretResource);
  const names = ['a', 'b', 'c'];
  for (const name of names) await maps.create(configMap(namespace, name, { copies: '5' }));

  const owned = async (name: string) =>
    (await secrets.list({ namespace })).items.filter((secret) => controllerOf(secret)?.name === name);
  const all = async (count: number) => {
    const counts = await Promise.all(names.map(async (name) => (await owned(name)).length));
    for (const each of counts) assert.ok(each <= 5, `overshot: ${each}`);
    return counts.every((each) => each === count);
  };
  await until('five copies', () => all(5));
  for (const { metadata } of (await owned('a')).slice(0, 3)) await secrets.delete(metadata.name, namespace);
  await until('the restored copies', () => all(5));
  for (const name of names) await maps.patch(name, namespace, 'merge', { data: { copies: '2' } });
  await until('two copies', () => all(2));
  const settled = (await secrets.list({ namespace })).metadata.resourceVersion;
  await server.clock.advance(5_000);
  assert.equal(
    (await secrets.list({ namespace })).metadata.resourceVersion,
    settled,
    'nothing is written at rest',
  );
  stop.abort();
  await server.clock.until(running);
});

test('two managers elect a leader, and the other takes over from it', async () => {
  const namespace = await inNamespace('elections');
  const run = (identity: string) => {
    const stop = new AbortController();
    const lead = async (leading: AbortSignal) => {
      const manager = createManager({
        kinds: new KindSet(registry),
        client,
        informers: factoryFor(client),
        events: { event: () => undefined },
        clock: server.clock,
        random,
        log: silentLogger,
      });
      manager.add(copier);
      await manager.run(leading);
    };
    const config = { namespace, name: 'copier', identity, retryPeriodMs: 20 };
    const options = { client, clock: server.clock, random, log: silentLogger, config, lead };
    const running = runLeaderElection(options, stop.signal);
    return async () => {
      stop.abort();
      await server.clock.until(running);
    };
  };
  const lease = () => client.resource(leaseResource).get('copier', namespace);
  const holder = async () => (await lease().catch(() => undefined))?.spec.holderIdentity;
  const stopFirst = run('first');
  await until('the first leading', async () => (await holder()) === 'first');
  const stopSecond = run('second');
  await client.resource(configMapResource).create(configMap(namespace, 'a', { copies: '3' }));
  const copies = async () => (await client.resource(secretResource).list({ namespace })).items.length;
  await until('three copies', async () => (await copies()) === 3);
  await stopFirst();
  await client.resource(configMapResource).patch('a', namespace, 'merge', { data: { copies: '4' } });
  await until('the second leading', async () => (await holder()) === 'second');
  await until('four copies', async () => (await copies()) === 4);
  assert.equal((await lease()).spec.leaseTransitions, 1);
  await stopSecond();
  assert.equal(await holder(), '');
});

test('repeated events are counted in one object, and name the object that they concern', async () => {
  const namespace = await inNamespace('events');
  const about = (await client.resource(configMapResource).create(configMap(namespace, 'thing'))) as ConfigMap;
  const recorder = createEventRecorder({
    client,
    clock: server.clock,
    random,
    log: silentLogger,
    component: 'test-controller',
    host: 'host-1',
  });
  for (let i = 0; i < 3; i++) recorder.event(about, 'Warning', 'Failed', 'it does not work');
  recorder.event(about, 'Normal', 'Done', 'it works');
  await server.clock.until(recorder.stop());
  recorder.event(about, 'Normal', 'Late', 'after the end');
  const { items } = await client.resource(eventResource).list({
    namespace,
    fieldSelector: `involvedObject.uid=${about.metadata.uid}`,
  });
  assert.deepEqual(
    items.map((event) => [event.reason, event.count, event.type, event.source?.component]).sort(),
    [
      ['Done', 1, 'Normal', 'test-controller'],
      ['Failed', 3, 'Warning', 'test-controller'],
    ],
  );
  for (const event of items) assert.match(event.metadata.name, /^thing\.[0-9a-f]{15,16}$/);
});

test('an expired event is written again with its count', async () => {
  const namespace = await inNamespace('expired-events');
  const about: Secret = await client.resource(secretResource).create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 's' },
    type: 'Opaque',
  } as never);
  const recorder = createEventRecorder({
    client,
    clock: server.clock,
    random,
    log: silentLogger,
    component: 'c',
  });
  const events = client.resource(eventResource);
  const counts = async () => (await events.list({ namespace })).items.map((event) => event.count);
  recorder.event(about, 'Normal', 'Pulled', 'image');
  await until('the event', async () => (await counts()).length === 1);
  for (const event of (await events.list({ namespace })).items)
    await events.delete(event.metadata.name, namespace);
  recorder.event(about, 'Normal', 'Pulled', 'image');
  await until('the event that is written again', async () => (await counts()).join() === '2');
  await server.clock.until(recorder.stop());
});
