/** Events that a node's agent records reach the server within the limits for nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Event, eventResource } from '../../../src/api/core/v1/event/event.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createEventRecorder } from '../../../src/controller-runtime/event-recorder.ts';
import { eventBurst } from '../../../src/kube-apiserver/event-rate.ts';
import { admin, startTestServer } from '../../fixtures/api-server.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const eachPod = 20;

test('every event of an agent is written; events over the limit are delayed', async () => {
  const server = await startTestServer();
  const { clock } = server;
  const transports = [
    inProcessTransport(server.handlerFor(admin)),
    inProcessTransport(server.handlerFor({ name: 'system:node:n1', groups: ['system:nodes'] })),
  ] as const;
  const [byAdmin, byNode] = transports.map((transport) => createClient(transport, { clock })) as [
    ReturnType<typeof createClient>,
    ReturnType<typeof createClient>,
  ];
  const node = await byNode
    .resource(nodeResource)
    .create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: {} });
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] };
  const pods = [];
  for (let number = 0; number * eachPod < eventBurst + 60; number++) {
    const answer = await server.call('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: `p-${number}` },
      spec,
    });
    assert.equal(answer.status, 201, answer.text);
    pods.push(await byAdmin.resource(podResource).get(`p-${number}`, 'default'));
  }
  const base = { clock, random: new SeededRandom(3), log: silentLogger };
  const recorder = createEventRecorder({ ...base, client: byNode, component: 'kubelet', host: 'n1' });
  recorder.event(node, 'Normal', 'NodeReady', 'it is');
  for (const pod of pods) {
    for (let number = 0; number < eachPod; number++) {
      recorder.event(pod, 'Warning', `Reason${number}`, '€'.repeat(2000));
    }
  }
  const stored = async () =>
    (await byAdmin.resource(eventResource).list({ namespace: 'default' })).items as Event[];
  while ((await stored()).length < eventBurst) await clock.settle();
  await clock.advance(1);
  assert.equal((await stored()).length, eventBurst);
  for (let seconds = 0; seconds < 60 && (await stored()).length <= pods.length * eachPod; seconds++) {
    await clock.advance(1_000);
  }
  const events = await stored();
  assert.equal(events.length, pods.length * eachPod + 1);
  assert.ok(events.every(({ source }) => source.host === 'n1'));
  await recorder.stop();
  for (const transport of transports) transport.close();
  await server.stop();
});
