import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Node, nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { taintEvictionController } from '../../../src/controllers/nodes/taint-eviction.ts';
import { registry } from '../../../src/features/kinds.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

it('queries the server before an eviction: the cache may show a removed taint or node', async () => {
  const client = createClient(inProcessTransport(server.handlerFor(admin)));
  /** Caches that contain the objects of a test and nothing that the server receives. */
  const seen = new ScriptedInformers();
  const clock = new FakeClock();
  const told: string[] = [];
  const controller = taintEvictionController({
    kinds: new KindSet(registry),
    client,
    clock,
    random: new SeededRandom(1),
    log: new RecordingLogger(),
    informers: seen,
    enqueue: () => undefined,
    events: { event: (_about, _type, reason) => void told.push(reason) },
  });
  const reconcile = () => controller.reconcile('default/web', new AbortController().signal);
  const nodes = client.resource(nodeResource);
  const pods = client.resource(podResource);
  const isLeaving = async () => (await pods.get('web', 'default')).metadata.deletionTimestamp !== undefined;
  const taint = { key: 'maintenance', effect: 'NoExecute' as const };
  const withTaint = (node: Node): Node => ({ ...node, spec: { ...node.spec, taints: [taint] } });

  const node = await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: {} });
  const pod = await pods.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'app', image: 'app:1' }],
      tolerations: [{ key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }],
    },
  } as unknown as Draft<Pod>);
  seen.put(podResource, pod);
  seen.put(nodeResource, withTaint(node));

  assert.deepEqual(await reconcile(), { requeueAfter: 30_000 });
  await clock.advance(30_000);
  assert.deepEqual(await reconcile(), { requeueAfter: 1_000 });
  assert.equal(await isLeaving(), false, 'the server shows no taint');

  await nodes.delete('n1');
  assert.deepEqual(await reconcile(), { requeueAfter: 1_000 });
  assert.equal(await isLeaving(), false, 'the server has no such node');
  assert.deepEqual(told, []);

  await nodes.create({ ...withTaint(node), metadata: { name: 'n1' } });
  assert.equal(await reconcile(), undefined);
  assert.equal(await isLeaving(), true);
  assert.deepEqual(told, ['TaintManagerEviction']);
  const { conditions } = (await pods.get('web', 'default')).status ?? {};
  assert.equal(conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason, 'DeletionByTaintManager');
});
