import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { nodeResource } from '../../../src/api/core/v1/node.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import type { ControllerDefinition } from '../../../src/controller-runtime/definition.ts';
import { nodeQuarantine, podGcController } from '../../../src/controllers/pod-gc.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { eventually } from './cluster.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

it('removes the pods of a node that stays away, and only those', async () => {
  const client = createClient(inProcessTransport(server.handlerFor(admin)));
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const random = new SeededRandom(1);
  const informers = createInformerFactory({ client, clock: systemClock, random, log });
  const events = { event() {} };
  const controller: ControllerDefinition = podGcController({ client, clock, random, log, informers, events });
  const stopping = new AbortController();
  await informers.start(stopping.signal);
  const pods = informers.informerFor(podResource).lister;
  const nodes = informers.informerFor(nodeResource).lister;
  const reconcile = (node: string) => controller.reconcile(node, stopping.signal);
  const bind = (name: string, nodeName: string) =>
    client.resource(podResource).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: { nodeName, containers: [{ name: 'app', image: 'app:1' }] },
    } as unknown as Draft<Pod>);
  await client
    .resource(nodeResource)
    .create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'here' }, spec: {} });
  await bind('kept', 'here');
  await bind('lost', 'gone');
  await eventually('the cache shows both', async () => pods.list().length === 2);

  assert.equal(await reconcile('here'), undefined);
  assert.deepEqual(await reconcile('gone'), { requeueAfter: nodeQuarantine });
  await clock.advance(nodeQuarantine - 1);
  assert.deepEqual(await reconcile('gone'), { requeueAfter: 1 });
  await clock.advance(1);

  // The node registers again, unseen by the cache: its pods stay, and the wait begins anew.
  await client
    .resource(nodeResource)
    .create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'gone' }, spec: {} });
  await reconcile('gone');
  assert.equal((await client.resource(podResource).list({ namespace: 'default' })).items.length, 2);
  await eventually('the cache shows the node', async () => nodes.get('gone') !== undefined);
  await client.resource(nodeResource).delete('gone');
  await eventually('the cache has forgotten it', async () => nodes.get('gone') === undefined);
  assert.deepEqual(await reconcile('gone'), { requeueAfter: nodeQuarantine });
  await clock.advance(nodeQuarantine);
  await reconcile('gone');
  const left = (await client.resource(podResource).list({ namespace: 'default' })).items;
  assert.deepEqual(
    left.map(({ metadata }) => metadata.name),
    ['kept'],
  );
  stopping.abort();
  await informers.stopped();
});
