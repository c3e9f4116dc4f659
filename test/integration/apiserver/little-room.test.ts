import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RoomLevel } from '../../../src/storage/room-plan.ts';
import { createTestApi, startTestServer } from '../../fixtures/api-server.ts';
import { troubleText } from '../../fixtures/troubleshooting.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const namespace = '/api/v1/namespaces/default';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

describe('an API server whose store is almost full', () => {
  it('rejects new objects with the reason, also in readyz, and writes them when there is room', async () => {
    let level: RoomLevel = 'free';
    const room = { level: () => level, size: () => 123, quota: () => undefined, keep: async () => undefined };
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
  it('reports that an object exists, and starts again, also if a role and a namespace are missing', async () => {
    let level: RoomLevel = 'free';
    const room = { level: () => level, size: () => 123, quota: () => undefined, keep: async () => undefined };
    const server = await startTestServer({ wrapStore: (store) => ({ ...store, room }) });
    try {
      assert.equal((await server.call('POST', maps, { metadata: { name: 'a' } })).status, 201);
      level = 'exhausted';
      assert.equal((await server.call('POST', maps, { metadata: { name: 'a' } })).status, 409);
      assert.equal((await server.call('POST', maps, { metadata: { name: 'b' } })).status, 429);
      const { store } = server;
      const missing = ['clusterroles.rbac.authorization.k8s.io/view', 'namespaces/kube-node-lease'];
      for (const key of missing.map((name) => `/registry/${name}`)) {
        const stored = await store.get(key);
        assert.ok(stored);
        await store.delete(key, stored.revision);
      }
      const next = createTestApi({ wrapStore: () => store });
      const stop = new AbortController();
      const serving = Promise.withResolvers<void>();
      const running = next.api.run(async () => serving.resolve(), stop.signal);
      await next.clock.until(Promise.race([serving.promise, running]));
      stop.abort();
      await next.clock.until(running);
    } finally {
      await server.stop();
    }
  });
  it('does not write a large object repeatedly while it is deleted, and writes each step of the deletion', async () => {
    let level: RoomLevel = 'free';
    const room = { level: () => level, size: () => 123, quota: () => undefined, keep: async () => undefined };
    const server = await startTestServer({ wrapStore: (store) => ({ ...store, room }) });
    const remove = (policy: string) =>
      server.call('DELETE', `${maps}/held?propagationPolicy=${policy}`).then(({ status }) => status);
    const patch = (metadata: object) =>
      server.call('PATCH', `${maps}/held`, { metadata }, merge).then(({ status }) => status);
    try {
      const metadata = { name: 'held', finalizers: ['a.b/c', 'a.b/d'] };
      const large = await server.call('POST', maps, { metadata, data: { text: 'x'.repeat(900_000) } });
      assert.equal(large.status, 201);
      level = 'exhausted';
      assert.equal(await remove('Background'), 200, 'the deletion begins');
      assert.equal(await remove('Background'), 200, 'a repeated delete changes nothing');
      assert.equal(await remove('Orphan'), 429);
      assert.equal(await remove('Foreground'), 429);
      assert.equal(await patch({ annotations: { a: 'b' } }), 429);
      assert.equal(await patch({ finalizers: ['a.b/d', 'a.b/c'] }), 429, 'in another order');
      assert.equal(await patch({ finalizers: ['a.b/c'] }), 200);
      assert.equal(await patch({ finalizers: null }), 200);
      assert.equal((await server.call('GET', `${maps}/held`)).status, 404);
    } finally {
      await server.stop();
    }
  });
  it('refuses a large Lease, and new Leases of users', async () => {
    let level: RoomLevel = 'free';
    const room = { level: () => level, size: () => 123, quota: () => undefined, keep: async () => undefined };
    const server = await startTestServer({ wrapStore: (store) => ({ ...store, room }) });
    const leases = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const create = async (namespace: string, name: string, annotations = {}) =>
      (await server.call('POST', leases(namespace), { metadata: { name, annotations }, spec: {} })).status;
    const renew = async (name: string, change: object) =>
      (await server.call('PATCH', `${leases('default')}/${name}`, change, merge)).status;
    try {
      for (const name of ['small', 'grown']) assert.equal(await create('default', name), 201);
      level = 'exhausted';
      const annotations = { a: 'x'.repeat(200_000) };
      assert.equal(await create('kube-system', 'large', annotations), 429);
      assert.equal(await create('default', 'new'), 429);
      assert.equal(await create('kube-system', 'master'), 201);
      assert.equal(await create('kube-node-lease', 'node'), 201);
      assert.equal(await renew('grown', { metadata: { annotations } }), 429);
      assert.equal(await renew('small', { spec: { holderIdentity: 'a' } }), 200);
    } finally {
      await server.stop();
    }
  });
  it('rejects writes that would give a namespace more than half of the store, but no deletions and no writes of other namespaces', async () => {
    const room = {
      level: (): RoomLevel => 'free',
      size: () => 1,
      quota: () => 200_000,
      keep: async () => undefined,
    };
    const server = await startTestServer({ wrapStore: (store) => ({ ...store, room }) });
    const create = (at: string, name: string, text: string) =>
      server.call('POST', at, { metadata: { name }, data: { text } });
    const others = '/api/v1/namespaces/other/configmaps';
    try {
      const made = await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'other' } });
      assert.equal(made.status, 201);
      for (const name of ['a', 'b', 'c'])
        assert.equal((await create(maps, name, 'x'.repeat(30_000))).status, 201);
      await server.clock.advance(10);
      const refused = await create(maps, 'd', 'x'.repeat(30_000));
      assert.equal(refused.status, 429);
      assert.match(refused.text, troubleText('take half of the store'));
      const growing = { data: { text: 'x'.repeat(50_000) } };
      assert.equal((await server.call('PATCH', `${maps}/a`, growing, merge)).status, 429);
      const label = { metadata: { labels: { a: 'b' } } };
      assert.equal((await server.call('PATCH', `${maps}/a`, label, merge)).status, 200);
      // An object that is being deleted stays until its finalizers are gone.
      const finalizers = { metadata: { finalizers: ['a.b/c'] } };
      assert.equal((await server.call('PATCH', `${maps}/c`, finalizers, merge)).status, 200);
      assert.equal((await server.call('DELETE', `${maps}/c`)).status, 200);
      assert.equal((await server.call('PATCH', `${maps}/c`, growing, merge)).status, 429);
      assert.equal((await create(others, 'd', 'x'.repeat(30_000))).status, 201);
      assert.equal(
        (await create('/api/v1/namespaces/kube-system/configmaps', 'd', 'x'.repeat(150_000))).status,
        201,
      );
      assert.equal((await server.call('DELETE', `${maps}/b`)).status, 200);
      await server.clock.advance(10);
      assert.equal((await create(maps, 'd', 'x'.repeat(30_000))).status, 201);
    } finally {
      await server.stop();
    }
  });
});
