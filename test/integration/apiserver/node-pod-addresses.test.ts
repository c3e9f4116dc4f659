/** The part of pods of other nodes that a node may read, for network policies. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { core, inDefault, merge, type NodeWorld, startNodeWorld } from './node-world.ts';

let world: NodeWorld;
before(async () => {
  world = await startNodeWorld();
  const ports = [{ name: 'web', containerPort: 80, protocol: 'TCP' }];
  const env = [{ name: 'PASSWORD', value: 'hunter2' }];
  await world.make(`${inDefault}/pods`, {
    metadata: { name: 'rich', labels: { app: 'web' }, annotations: { note: 'hunter2' } },
    spec: {
      volumes: [{ name: 'v', hostPath: { path: '/hunter2' } }],
      containers: [{ name: 'c', image: 'hunter2', command: ['hunter2'], env, ports }],
    },
  });
  await world.make(`${inDefault}/pods/rich/binding`, { target: { name: 'n2' } });
  const status = {
    phase: 'Running',
    podIP: '10.244.2.7',
    podIPs: [{ ip: '10.244.2.7' }],
    message: 'hunter2',
  };
  const headers = { 'content-type': merge };
  const answer = await world.server.call('PATCH', `${inDefault}/pods/rich/status`, { status }, { headers });
  assert.equal(answer.status, 200, answer.text);
});
after(() => world.stop());

const selector = (text: string) => `fieldSelector=${encodeURIComponent(text)}`;

for (const query of [
  '',
  selector('spec.nodeName=n2'),
  selector('spec.nodeName!=n1'),
  `${selector('spec.nodeName=n2')}&${selector('spec.nodeName=n1')}`,
  selector('metadata.name=rich'),
  'labelSelector=app%3Dweb',
]) {
  test(`a node reads only labels, addresses and ports of the pods in pods?${query}`, async () => {
    const { status, text } = await world.ask('GET', `${core}/pods?${query}`);
    assert.equal(status, 200, text);
    assert.doesNotMatch(text, /hunter2/);
    const { items } = JSON.parse(text) as { items: Pod[] };
    const rich = items.find(({ metadata }) => metadata.name === 'rich');
    assert.deepEqual(rich?.metadata.labels, { app: 'web' });
    assert.deepEqual(rich?.status, {
      ...{ phase: 'Running', podIP: '10.244.2.7', podIPs: [{ ip: '10.244.2.7' }] },
    });
    assert.deepEqual(rich?.spec, {
      nodeName: 'n2',
      containers: [{ name: 'c', ports: [{ name: 'web', containerPort: 80, protocol: 'TCP' }] }],
    });
  });
}

test('a node can read its own pods completely', async () => {
  const { text } = await world.ask('GET', `${core}/pods?${selector('spec.nodeName=n1')}`);
  const { items } = JSON.parse(text) as { items: Pod[] };
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['own'],
  );
  assert.ok(items[0]?.spec.containers[0]?.envFrom);
});

test('a watch by a node returns the same part of other nodes’ pods', async () => {
  const path = `${core}/pods?watch=true&timeoutSeconds=1&${selector('metadata.name=rich')}`;
  const user = { name: 'system:node:n1', groups: ['system:nodes'] };
  const { status, text } = await world.server.call('GET', path, undefined, { user });
  assert.equal(status, 200, text);
  assert.match(text, /10\.244\.2\.7/);
  assert.doesNotMatch(text, /hunter2/);
});

test('a node cannot get other nodes’ pods as a Table in any format', async () => {
  const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const user = { name: 'system:node:n1', groups: ['system:nodes'] };
  const { status } = await world.server.call('GET', `${core}/pods`, undefined, { user, headers: { accept } });
  assert.equal(status, 406);
});
