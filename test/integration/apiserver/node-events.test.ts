/**
 * Events that a node records: about itself and its pods, in its own name, and within the limits of the store.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventBurst } from '../../../src/kube-apiserver/event-rate.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
import { container, core, inDefault, type NodeWorld, startNodeWorld } from './node-world.ts';

let world: NodeWorld;
const ask: NodeWorld['ask'] = (...args) => world.ask(...args);
const make: NodeWorld['make'] = (...args) => world.make(...args);
before(async () => {
  world = await startNodeWorld();
  await world.make(`${inDefault}/services`, {
    metadata: { name: 'balancer' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  });
});
after(() => world.stop());

describe('events of a node', () => {
  const event = (over: object) => ({
    metadata: { name: 'said' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'own' },
    source: { host: 'n1' },
    ...over,
  });
  const about = (involvedObject: object) => event({ involvedObject });
  const rows: readonly (readonly [string, string, string, object, number])[] = [
    ['an event about its pod', 'POST', `${inDefault}/events?dryRun=All`, event({}), 201],
    [
      'an event about itself',
      'POST',
      `${inDefault}/events?dryRun=All`,
      about({ kind: 'Node', name: 'n1' }),
      201,
    ],
    [
      'an event about another pod',
      'POST',
      `${inDefault}/events`,
      about({ kind: 'Pod', namespace: 'default', name: 'other' }),
      403,
    ],
    ['an event about another node', 'POST', `${inDefault}/events`, about({ kind: 'Node', name: 'n2' }), 403],
    [
      'an event about a Service',
      'POST',
      `${inDefault}/events`,
      about({ kind: 'Service', namespace: 'default', name: 'own' }),
      403,
    ],
    [
      'an event about a load balancer with a reason that nodes do not have',
      'POST',
      `${inDefault}/events`,
      about({ kind: 'Service', namespace: 'default', name: 'balancer' }),
      403,
    ],
    [
      'an event with the reason for announcing a load balancer',
      'POST',
      `${inDefault}/events?dryRun=All`,
      {
        ...about({ kind: 'Service', namespace: 'default', name: 'balancer' }),
        reason: 'AddressAnnounced',
      },
      201,
    ],
    [
      'an event with that reason about a Service of another type',
      'POST',
      `${inDefault}/events`,
      { ...about({ kind: 'Service', namespace: 'default', name: 'own' }), reason: 'AddressAnnounced' },
      403,
    ],
    [
      'an event in the name of another node',
      'POST',
      `${inDefault}/events`,
      event({ source: { host: 'n2' } }),
      403,
    ],
    ['an event without a source', 'POST', `${inDefault}/events`, event({ source: {} }), 403],
    [
      'an event with another reportingInstance',
      'POST',
      `${inDefault}/events`,
      event({ reportingInstance: 'n2' }),
      403,
    ],
    [
      'an event about a pod that never existed',
      'POST',
      `${inDefault}/events`,
      about({ kind: 'Pod', namespace: 'default', name: 'never', uid: 'u' }),
      403,
    ],
    [
      'an event about another pod with the name of its pod',
      'POST',
      `${inDefault}/events`,
      about({ kind: 'Pod', namespace: 'default', name: 'own', uid: 'u' }),
      403,
    ],
    [
      'an event of the maximum length of a recorder',
      'POST',
      `${inDefault}/events?dryRun=All`,
      event({ message: '€'.repeat(1024) }),
      201,
    ],
    ['an event of 8 kB', 'POST', `${inDefault}/events`, event({ message: 'x'.repeat(8192) }), 403],
    [
      'an event of 9 kB in 3,000 characters',
      'POST',
      `${inDefault}/events`,
      event({ message: '€'.repeat(3000) }),
      403,
    ],
    [
      'the event of another node, changed into its own',
      'PATCH',
      `${inDefault}/events/other`,
      { ...event({}), metadata: {} },
      403,
    ],
    [
      'its own event, changed into that of another node',
      'PATCH',
      `${inDefault}/events/own`,
      { source: { host: 'n2' } },
      403,
    ],
    ['an update of its own event', 'PATCH', `${inDefault}/events/own`, { count: 2 }, 200],
    [
      'an event with a finalizer',
      'POST',
      `${inDefault}/events`,
      { ...event({}), metadata: { name: 'said', finalizers: ['a.b/c'] } },
      403,
    ],
  ];
  for (const [what, method, path, body, code] of rows) {
    it(`are ${code < 300 ? 'accepted' : 'rejected'}: ${what}`, async () => {
      const answer = await ask(method, path, body);
      assert.equal(answer.status, code, answer.text);
    });
  }

  it('for a deleted pod are accepted if the node reported about it before, and for no other pod of its name', async () => {
    const pods = `${inDefault}/pods`;
    await make(pods, {
      metadata: { name: 'gone' },
      spec: { nodeName: 'n1', containers: [container('c', 'own')] },
    });
    const { uid } = (await world.server.call('GET', `${pods}/gone`)).json<{ metadata: { uid: string } }>()
      .metadata;
    const about = { kind: 'Pod', namespace: 'default', name: 'gone', uid };
    const said = (name: string, involvedObject: object) =>
      ask('POST', `${inDefault}/events`, { ...event({ involvedObject }), metadata: { name } });
    assert.equal((await said('gone.1', about)).status, 201);
    const removed = await world.server.call('DELETE', `${pods}/gone?gracePeriodSeconds=0`);
    assert.equal(removed.status, 200, removed.text);
    assert.equal((await said('gone.2', about)).status, 201);
    assert.equal((await ask('PATCH', `${inDefault}/events/gone.1`, { count: 2 })).status, 200);
    assert.equal((await said('gone.3', { ...about, uid: 'another' })).status, 403);
    assert.equal((await said('gone.4', { ...about, uid: undefined })).status, 403);
  });

  it('are limited to a rate that the store can handle', async () => {
    const server = await startTestServer();
    const user = { name: 'system:node:n1', groups: ['system:nodes'] };
    const other = { name: 'system:node:n2', groups: ['system:nodes'] };
    const say = (who: typeof user) =>
      server.call('POST', `${inDefault}/events?dryRun=All`, event({ involvedObject: {} }), { user: who });
    for (let said = 0; said < eventBurst; said++) assert.equal((await say(user)).status, 403);
    const answer = await say(user);
    assert.equal(answer.status, 429);
    assert.equal(answer.headers.get('retry-after'), '1');
    assert.match(answer.text, /node \\"n1\\" writes too many events: 10 a second/);
    assert.equal((await say(other)).status, 403);
    assert.equal((await server.call('GET', `${core}/nodes/n1`, undefined, { user })).status, 404);
    await server.clock.advance(200);
    assert.deepEqual(
      [(await say(user)).status, (await say(user)).status, (await say(user)).status],
      [403, 403, 429],
    );
    await server.stop();
  });
});
