/** Rate limit of the events that a node may write. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { systemUser, type UserInfo } from '../../../src/apiserver/request/user.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const events = '/api/v1/namespaces/default/events';
const node = (name: string): UserInfo => ({ name: `system:node:${name}`, groups: ['system:nodes'] });

let server: TestServer;
beforeEach(async () => {
  // Nodes may not read or delete events; if they were allowed to, these requests would not be counted.
  server = await startTestServer({ authorize: async () => true });
});
afterEach(() => server.stop());

/** A request that is rejected for its body unless it is rejected before. */
const ask = (user: UserInfo, method: string, path = method === 'POST' ? events : `${events}/e`) =>
  server.call(method, path, method === 'GET' || method === 'DELETE' ? undefined : '{', { user });
const isLimited = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).status === 429;

test('the limit for a node is five hundred Events at once, counted over all verbs that write Events, and then ten a second', async () => {
  for (let i = 0; i < 500; i++) {
    const method = ['POST', 'PUT', 'PATCH'][i % 3] ?? '';
    assert.equal(await isLimited(node('n1'), method), false, `${method} ${i}`);
  }
  for (const method of ['POST', 'PUT', 'PATCH']) assert.equal(await isLimited(node('n1'), method), true);
  const refused = await ask(node('n1'), 'POST');
  const { reason, message, details } = refused.json<Status>();
  assert.deepEqual([reason, details?.retryAfterSeconds], ['TooManyRequests', 1]);
  assert.equal(message, 'node "n1" writes too many events: 10 a second are accepted; wait 1 s');
  assert.equal(refused.headers.get('retry-after'), '1');

  // Other nodes have limits of their own, other users have none, and only writes of events are counted.
  assert.equal(await isLimited(node('n2'), 'POST'), false);
  for (let i = 0; i < 501; i++) assert.equal(await isLimited(systemUser('admin'), 'POST'), false);
  for (const method of ['GET', 'DELETE']) assert.equal(await isLimited(node('n1'), method), false);
  assert.equal(await isLimited(node('n1'), 'PATCH', '/api/v1/nodes/n1/status'), false);

  await server.clock.advance(1000);
  for (let i = 0; i < 10; i++) assert.equal(await isLimited(node('n1'), 'POST'), false, `${i} later`);
  assert.equal(await isLimited(node('n1'), 'POST'), true);
});
