/** Events expire and other objects are kept, with a clock that a test advances and on a real etcd. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Event, eventResource } from '../../../src/api/core/v1/event/event.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { storagePrefix } from '../../../src/apimachinery/resource-definition.ts';
import { rfc3339, systemClock } from '../../../src/base/clock.ts';
import { startTestEtcd } from '../../conformance/etcd-server.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
import { type Cluster, startCluster } from './cluster.ts';

const create = (cluster: Cluster, name: string) =>
  cluster.client.resource(eventResource).create({
    metadata: { name, namespace: 'default' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    message: name,
  } as unknown as Draft<Event>);
const names = async (cluster: Cluster) =>
  (await cluster.list(eventResource, 'default'))
    .map(({ metadata }) => metadata.name)
    .filter((name) => ['old', 'young', 'counted'].includes(name))
    .toSorted();

test('an Event is deleted an hour after its last occurrence', async (t) => {
  const cluster = await startCluster({ nodeGracePeriodMs: 86_400_000 });
  t.after(() => cluster.stop());
  for (const name of ['old', 'counted']) await cluster.until(create(cluster, name));
  await cluster.pass(1_800_000);
  await cluster.until(
    cluster.edit(eventResource, 'counted', (event) => {
      event.count = 2;
      event.lastTimestamp = rfc3339(cluster.clock.now());
    }),
  );
  await cluster.until(create(cluster, 'young'));
  await cluster.pass(1_790_000);
  assert.deepEqual(await names(cluster), ['counted', 'old', 'young']);
  await cluster.pass(20_000);
  assert.deepEqual(await names(cluster), ['counted', 'young']);
  await cluster.pass(1_800_000);
  assert.deepEqual(await names(cluster), []);
});

test('on a real etcd no key of an Event remains', { timeout: 120_000 }, async (t) => {
  const etcd = await startTestEtcd();
  t.after(() => etcd.stop());
  const store = await etcd.connect();
  const server = await startTestServer({ clock: systemClock, wrapStore: () => store });
  const cluster = await startCluster({ server, nodeGracePeriodMs: 86_400_000, eventTtlMs: 2_000 });
  t.after(() => cluster.stop());
  const stored = async () => {
    const { items } = await store.list(storagePrefix(eventResource, 'default'));
    return items.map((item) => item.key.split('/').at(-1)).filter((name) => name === 'old');
  };
  await create(cluster, 'old');
  assert.deepEqual(await stored(), ['old']);
  await cluster.eventually('the Event is gone from etcd', async () => (await stored()).length === 0);
  assert.deepEqual(await names(cluster), []);
});
