/**
 * An etcd with a small quota: the operations that must continue during a flood of writes, and the recovery of
 * the cluster.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Store } from '../../src/storage/store.ts';
import { startTestServer, type TestServer } from '../fixtures/api-server.ts';
import { etcdBinary } from '../fixtures/etcd-binary.ts';
import { troubleText } from '../fixtures/troubleshooting.ts';
import { earlierBinary, startTestEtcd } from './etcd-server.ts';

const limit = { timeout: 240_000 };
const maps = '/api/v1/namespaces/default/configmaps';
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const megabyte = 1_000_000;
const large = (name: string, letter = 'x') => ({
  metadata: { name },
  data: { a: letter.repeat(0.9 * megabyte) },
});

const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

/** Runs the body with an API server on an etcd with this quota in bytes. */
async function withServer(
  binary: string,
  quotaBytes: number,
  use: (server: TestServer, store: Store) => Promise<void>,
) {
  const etcd = await startTestEtcd('etcd', { binary, quotaBytes });
  const store = await etcd.connect();
  const ended = new AbortController();
  const keeping = store.room?.keep(ended.signal);
  const server = await startTestServer({ clock: systemClock, bareNamespaces: true, wrapStore: () => store });
  try {
    await use(server, store);
  } finally {
    ended.abort();
    await keeping;
    await server.stop();
    await etcd.stop();
  }
}

async function renew(server: TestServer): Promise<void> {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  const body = { metadata: { name: 'beat' }, spec: { renewTime } };
  let { status, text } = await server.call('PATCH', `${leases}/beat`, body, merge);
  if (status === 404) ({ status, text } = await server.call('POST', leases, body));
  assert.ok([200, 201].includes(status), text);
}

/** Retries until the answer has the status `wanted`; the timeout of the test ends it. */
async function until(wanted: number, call: () => Promise<{ status: number; text: string }>): Promise<void> {
  for (;;) {
    const { status } = await call();
    if (status === wanted) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

test(
  'a full etcd rejects new objects but accepts Leases, deletions and statuses, and recovers',
  limit,
  async () => {
    await withServer(etcdBinary, 64 << 20, async (server, store) => {
      await renew(server);
      const node = { metadata: { name: 'n', finalizers: ['a.b/c'] } };
      assert.equal((await server.call('POST', '/api/v1/nodes', node)).status, 201);
      // A single namespace may use at most half of the store.
      const place = (at: number) => `/api/v1/namespaces/space-${at % 4}/configmaps`;
      for (let at = 0; at < 4; at++) {
        const space = { metadata: { name: `space-${at}` } };
        assert.equal((await server.call('POST', '/api/v1/namespaces', space)).status, 201);
      }
      let made = 0;
      let refusal = { status: 0, text: '' };
      for (; refusal.status !== 429; made++) {
        refusal = await server.call('POST', place(made), large(`m${made}`));
        assert.ok([201, 429].includes(refusal.status), refusal.text);
        assert.ok(made < 90, 'nothing was refused');
      }
      made--;
      assert.match(refusal.text, troubleText('is almost full'));
      assert.match(refusal.text, /delete what is not needed/);
      assert.equal((await server.call('PUT', `${place(0)}/m0`, large('m0', 'y'))).status, 429);
      assert.notEqual(store.room?.level(), 'free');
      const ready = await server.call('GET', '/readyz?verbose');
      assert.equal(ready.status, 500);
      assert.match(ready.text, /\[-\]etcd-room failed: etcd is almost full/);
      for (let beat = 0; beat < 50; beat++) await renew(server);
      const status = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
      // Recent writes may be counted twice for two seconds.
      await until(200, () => server.call('PATCH', '/api/v1/nodes/n/status', status, merge));
      assert.equal((await server.call('DELETE', '/api/v1/nodes/n')).status, 200);
      const freed = await server.call('PATCH', '/api/v1/nodes/n', { metadata: { finalizers: null } }, merge);
      assert.equal(freed.status, 200, freed.text);
      for (let at = 0; at < made; at++)
        assert.equal((await server.call('DELETE', `${place(at)}/m${at}`)).status, 200);
      await until(201, () => server.call('POST', maps, large('again')));
      await until(200, () => server.call('GET', '/readyz'));
    });
  },
);

test(
  'updates of one large object never fill etcd, because its history is compacted before',
  limit,
  async () => {
    await withServer(etcdBinary, 64 << 20, async (server) => {
      assert.equal((await server.call('POST', maps, large('one'))).status, 201);
      const answers = new Set<number>();
      for (let round = 0; round < 150; round++) {
        const { status } = await server.call('PUT', `${maps}/one`, large('one', 'abc'[round % 3]));
        answers.add(status);
        if (round % 10 === 0) await renew(server);
      }
      assert.deepEqual(
        [...answers].filter((status) => status !== 200 && status !== 429),
        [],
      );
      await until(200, () => server.call('PUT', `${maps}/one`, large('one', 'z')));
      assert.equal((await server.call('DELETE', `${maps}/one`)).status, 200);
    });
  },
);

test('an etcd that does not report its quota is defragmented when it raises its alarm', limit, async () => {
  await withServer(earlierBinary, 24 << 20, async (server, store) => {
    assert.equal((await server.call('POST', maps, large('one'))).status, 201);
    let failed = 0;
    for (let round = 0; round < 60 && failed === 0; round++) {
      const { status } = await server.call('PUT', `${maps}/one`, large('one', 'abc'[round % 3]));
      if (status !== 200) failed = status;
    }
    assert.notEqual(failed, 0, 'the quota was not reached: nothing to test');
    await until(200, () => server.call('PUT', `${maps}/one`, large('one', 'z')));
    await renew(server);
    assert.equal((await server.call('DELETE', `${maps}/one`)).status, 200);
    assert.equal(store.room?.level(), 'free');
  });
});
