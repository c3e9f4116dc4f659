import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RoomLevel } from '../../../src/storage/room-plan.ts';
import { startTestServer } from '../../fixtures/api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const namespace = '/api/v1/namespaces/default';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

describe('an API server whose store is almost full', () => {
  it('refuses new objects and says so, in readyz too, and writes them when there is room', async () => {
    let level: RoomLevel = 'free';
    const room = { level: () => level, size: () => 123, keep: async () => undefined };
    const server = await startTestServer({ wrapStore: (store) => ({ ...store, room }) });
    try {
      assert.equal((await server.call('POST', maps, { metadata: { name: 'a' } })).status, 201);
      level = 'scarce';
      const refused = await server.call('POST', maps, { metadata: { name: 'b' } });
      assert.equal(refused.status, 429);
      assert.match(refused.text, /the store of the cluster is almost full/);
      assert.equal(refused.headers.get('retry-after'), null);
      const growing = { data: { a: 'x'.repeat(5000) } };
      assert.equal((await server.call('PATCH', `${maps}/a`, growing, merge)).status, 429);
      assert.equal((await server.call('PATCH', `${maps}/a`, { data: { a: 'x' } }, merge)).status, 200);
      assert.equal(
        (await server.call('POST', `${maps}?dryRun=All`, { metadata: { name: 'b' } })).status,
        201,
      );
      assert.match(
        (await server.call('GET', '/readyz')).text,
        /\[-\]etcd-room failed: etcd is almost full \(scarce\)/,
      );
      level = 'critical';
      assert.equal((await server.call('PATCH', `${maps}/a`, { data: { a: 'y' } }, merge)).status, 429);
      const phase = (phase: string) =>
        server.call('PATCH', `${namespace}/status`, { status: { phase } }, merge);
      const status = (message: string) => {
        const conditions = [{ type: 'A', status: 'True', reason: 'A', message, lastTransitionTime: null }];
        return server.call('PATCH', `${namespace}/status`, { status: { conditions } }, merge);
      };
      assert.equal((await phase('Active')).status, 200);
      assert.equal((await status('x'.repeat(200))).status, 200);
      assert.equal((await status('x'.repeat(3000))).status, 429);
      level = 'exhausted';
      assert.equal((await status('y')).status, 429);
      assert.equal((await server.call('DELETE', `${maps}/a`)).status, 200);
      assert.equal((await server.call('GET', '/livez')).status, 200);
      level = 'free';
      assert.equal((await server.call('POST', maps, { metadata: { name: 'b' } })).status, 201);
      assert.equal((await server.call('GET', '/readyz')).status, 200);
    } finally {
      await server.stop();
    }
  });
});
