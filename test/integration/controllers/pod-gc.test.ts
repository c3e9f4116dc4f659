import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { type Node, nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { taintKeys } from '../../../src/api/core/v1/node/taints.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import type { ControllerDefinition } from '../../../src/controller-runtime/definition.ts';
import { nodeQuarantine, podGcController } from '../../../src/controllers/garbage/pod-gc.ts';
import { registry } from '../../../src/features/kinds.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

let server: TestServer;
let client: Client;
let controller: ControllerDefinition;
/** Caches that contain the objects of a test and nothing that the server receives. */
let seen: ScriptedInformers;
let clock: FakeClock;

beforeEach(async () => {
  server = await startTestServer();
  client = createClient(inProcessTransport(server.handlerFor(admin)));
  seen = new ScriptedInformers();
  clock = new FakeClock();
  controller = podGcController({
    kinds: new KindSet(registry),
    client,
    clock,
    random: new SeededRandom(1),
    log: new RecordingLogger(),
    informers: seen,
    enqueue: () => undefined,
    events: { event() {} },
  });
});
afterEach(() => server.stop());

const reconcile = (node: string) => controller.reconcile(node, new AbortController().signal);

async function bind(name: string, nodeName: string): Promise<Pod> {
  const pod = await client.resource(podResource).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { nodeName, containers: [{ name: 'app', image: 'app:1' }] },
  } as unknown as Draft<Pod>);
  seen.put(podResource, pod);
  return pod;
}

const register = (name: string, spec: Node['spec'] = {}) =>
  client.resource(nodeResource).create({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec });

const podNames = async () =>
  (await client.resource(podResource).list({ namespace: 'default' })).items
    .map(({ metadata }) => metadata.name)
    .sort();

it('removes exactly the pods of the node that stays silent', async () => {
  seen.put(nodeResource, await register('here'));
  await bind('kept', 'here');
  await bind('lost', 'gone');

  assert.equal(await reconcile('here'), undefined);
  assert.deepEqual(await reconcile('gone'), { requeueAfter: nodeQuarantine });
  await clock.advance(nodeQuarantine - 1);
  assert.deepEqual(await reconcile('gone'), { requeueAfter: 1 });
  assert.deepEqual(await podNames(), ['kept', 'lost']);
  await clock.advance(1);
  await reconcile('gone');
  assert.deepEqual(await podNames(), ['kept']);
});

it('queries the server first: the pods stay if the node exists again and is not in the cache yet', async () => {
  await bind('kept', 'gone');
  await reconcile('gone');
  await clock.advance(nodeQuarantine);
  await register('gone');
  assert.equal(await reconcile('gone'), undefined);
  assert.deepEqual(await podNames(), ['kept']);

  // The node is absent again: its full grace period starts anew.
  await client.resource(nodeResource).delete('gone');
  assert.deepEqual(await reconcile('gone'), { requeueAfter: nodeQuarantine });
  await clock.advance(nodeQuarantine);
  await reconcile('gone');
  assert.deepEqual(await podNames(), []);
});

it('a node that the cache has seen again gets the whole grace period again', async () => {
  await bind('kept', 'gone');
  await reconcile('gone');
  await clock.advance(nodeQuarantine - 1);
  const node = await register('gone');
  seen.put(nodeResource, node);
  await reconcile('gone');
  await client.resource(nodeResource).delete('gone');
  seen.remove(nodeResource, 'gone');
  assert.deepEqual(await reconcile('gone'), { requeueAfter: nodeQuarantine });
});

/**
 * Creates a node with the taint by which an administrator declares the machine off, a pod that is being
 * deleted and a pod that is not.
 */
async function outOfService(ready: 'True' | 'False' | 'Unknown'): Promise<void> {
  const node = await register('off', { taints: [{ key: taintKeys.outOfService, effect: 'NoExecute' }] });
  seen.put(nodeResource, {
    ...node,
    status: { ...node.status, conditions: [{ type: 'Ready', status: ready }] },
  });
  await bind('stays', 'off');
  await bind('leaving', 'off');
  await client.resource(podResource).delete('leaving', 'default');
  seen.put(podResource, await client.resource(podResource).get('leaving', 'default'));
  assert.deepEqual(await podNames(), ['leaving', 'stays']);
  await reconcile('off');
}

for (const ready of ['False', 'Unknown'] as const) {
  it(`ends the deletions on a node that is out of service (Ready ${ready}), and touches no other pod`, async () => {
    await outOfService(ready);
    assert.deepEqual(await podNames(), ['stays']);
    const left = await client.resource(podResource).get('stays', 'default');
    assert.equal(left.metadata.deletionTimestamp, undefined);
    assert.notEqual(left.status?.phase, 'Failed');
  });
}

it('leaves the deletions to the agent of a ready node with any taints', async () => {
  await outOfService('True');
  assert.deepEqual(await podNames(), ['leaving', 'stays']);
});
