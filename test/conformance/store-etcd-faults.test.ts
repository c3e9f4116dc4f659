/** Tests the etcd store while connections break, answers are lost, requests are late and etcd is killed. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  ClaimTakenError,
  CompactedError,
  KeyExistsError,
  RevisionMismatchError,
  type Store,
  StoreUnavailableError,
  ValueTooLargeError,
} from '../../src/storage/store.ts';
import { startTestEtcd, type TestEtcd } from './etcd-server.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { Collector, freshTree } from './store.ts';

let server: TestEtcd;
let direct: Store;
before(async () => {
  server = await startTestEtcd();
  direct = await server.connect();
});
after(async () => {
  await direct?.close();
  await server?.stop();
});

let proxies = 0;

/** Runs the body with a store whose connections go through a proxy that the test can make fail. */
async function proxied(
  body: (store: Store, proxy: FaultyProxy, tree: string) => Promise<void>,
  options?: Parameters<TestEtcd['connect']>[1],
): Promise<void> {
  const proxy = await FaultyProxy.listen(
    { path: path.join(server.directory, `proxy-${++proxies}`) },
    { path: path.join(server.directory, 'etcd', 'client:0') },
  );
  const store = await server.connect(proxy.endpoint, options);
  try {
    await body(store, proxy, freshTree());
  } finally {
    await store.close();
    await proxy.close();
  }
}

const bytes = (text: string) => Buffer.from(text);
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const limit = { timeout: 180_000 };

/** Lets etcd receive the next request, and cuts the connection before the answer arrives. */
async function losingTheAnswer<T>(proxy: FaultyProxy, call: () => Promise<T>): Promise<T> {
  proxy.muteServer = true;
  const result = call();
  result.catch(() => undefined);
  await pause(50);
  proxy.muteServer = false;
  proxy.cut();
  return await result;
}

/** Holds back the next request, and cuts the connection. */
async function losingTheRequest<T>(proxy: FaultyProxy, call: () => Promise<T>): Promise<T> {
  proxy.holdClient = true;
  const result = call();
  result.catch(() => undefined);
  await pause(50);
  proxy.holdClient = false;
  proxy.cut();
  return await result;
}

async function eventsOf(tree: string, from: number): Promise<string[]> {
  const marker = await direct.create(`${tree}end`, bytes('end'));
  const collector = new Collector(direct, tree, from);
  await collector.until(() => collector.revisions.includes(marker));
  await collector.stop();
  return collector.events
    .slice(0, -1)
    .map((e) => `${e.key.slice(tree.length)} ${e.type === 'put' ? e.value : 'gone'}`);
}

test(
  'a replay of 20,000 events neither loses nor repeats an event although its connection is cut repeatedly',
  limit,
  () =>
    proxied(async (store, proxy, tree) => {
      const start = await direct.currentRevision();
      const written: number[] = [];
      const lanes = Array.from({ length: 64 }, async (_, lane) => {
        let revision = await direct.create(`${tree}lane/${lane}`, bytes(`${lane}`));
        written.push(revision);
        while (written.length < 20_000) {
          written.push(0);
          const at = written.length - 1;
          revision = await direct.update(`${tree}lane/${lane}`, Buffer.alloc(64, lane), revision);
          written[at] = revision;
        }
      });
      await Promise.all(lanes);
      written.sort((a, b) => a - b);
      proxy.cutAfterBytes = 300_000;
      const collector = new Collector(store, `${tree}lane/`, start);
      await collector.until(() => proxy.cuts >= 4);
      proxy.cutAfterBytes = Number.POSITIVE_INFINITY;
      proxy.cut();
      await collector.take(written.length);
      assert.deepEqual(collector.revisions, written);
      await collector.stop();
    }),
);

test('a write whose answer was lost is done once and reported with its revision', limit, () =>
  proxied(async (store, proxy, tree) => {
    const key = `${tree}a`;
    const start = await direct.currentRevision();
    const claims = { acquire: [{ key: `/claims${tree}1`, owner: 'a' }] };
    const created = await losingTheAnswer(proxy, () => store.create(key, bytes('1'), claims));
    assert.equal((await direct.get(key))?.revision, created);
    const updated = await losingTheAnswer(proxy, () => store.update(key, bytes('2'), created));
    assert.equal((await direct.get(key))?.revision, updated);
    const deleted = await losingTheAnswer(proxy, () =>
      store.delete(key, updated, { release: [`/claims${tree}1`] }),
    );
    assert.equal(await direct.get(key), undefined);
    assert.ok(created < updated && updated < deleted);
    assert.deepEqual(await eventsOf(tree, start), ['a 1', 'a 2', 'a gone']);
  }),
);

test(
  'a write whose answer was lost is reported as done although other clients have changed the object since',
  limit,
  () =>
    proxied(async (store, proxy, tree) => {
      const key = `${tree}a`;
      const start = await direct.currentRevision();
      const change = async () => {
        let seen = await direct.get(key);
        for (; seen === undefined; seen = await direct.get(key)) await pause(5);
        await direct.delete(key, seen.revision);
        await direct.create(key, bytes('theirs'));
        return seen.revision;
      };
      const other = change();
      const created = await losingTheAnswer(proxy, () => store.create(key, bytes('ours')));
      assert.equal(created, await other);
      assert.deepEqual(await eventsOf(tree, start), ['a ours', 'a gone', 'a theirs']);
    }),
);

test('only one of two clients that delete the same revision succeeds, even if answers are lost', limit, () =>
  proxied(async (store, proxy, tree) => {
    for (let round = 0; round < 6; round++) {
      const key = `${tree}${round}`;
      const revision = await direct.create(key, bytes('1'));
      const lost = losingTheAnswer(proxy, () => store.delete(key, revision));
      // In odd rounds, the other client's deletion is sent 25 ms after the one whose answer is lost.
      if (round % 2 === 1) await pause(25);
      const [ours, theirs] = await Promise.allSettled([lost, direct.delete(key, revision)]);
      const told = [ours, theirs].map(({ status }) => status).sort();
      assert.deepEqual(told, ['fulfilled', 'rejected'], `round ${round}`);
      for (const result of [ours, theirs]) {
        if (result.status === 'rejected') assert.ok(result.reason instanceof RevisionMismatchError);
      }
    }
  }),
);

test('a write that was rejected is reported as rejected although the answer was lost', limit, () =>
  proxied(async (store, proxy, tree) => {
    const key = `${tree}a`;
    const revision = await direct.create(key, bytes('1'), {
      acquire: [{ key: `/claims${tree}1`, owner: 'a' }],
    });
    const current = { key, value: bytes('1'), revision };
    await assert.rejects(
      losingTheAnswer(proxy, () => store.create(key, bytes('2'))),
      KeyExistsError,
    );
    await assert.rejects(
      losingTheAnswer(proxy, () => store.update(key, bytes('2'), revision - 1)),
      { current },
    );
    await assert.rejects(
      losingTheAnswer(proxy, () => store.delete(key, revision - 1)),
      RevisionMismatchError,
    );
    const taken = { acquire: [{ key: `/claims${tree}1`, owner: 'b' }] };
    await assert.rejects(
      losingTheAnswer(proxy, () => store.create(`${tree}b`, bytes('2'), taken)),
      ClaimTakenError,
    );
    assert.deepEqual(await direct.get(key), current);
  }),
);

test('a write whose request was lost is sent again and done once', limit, () =>
  proxied(async (store, proxy, tree) => {
    const key = `${tree}a`;
    const start = await direct.currentRevision();
    const created = await losingTheRequest(proxy, () => store.create(key, bytes('1')));
    const updated = await losingTheRequest(proxy, () => store.update(key, bytes('2'), created));
    await losingTheRequest(proxy, () => store.delete(key, updated));
    assert.deepEqual(await eventsOf(tree, start), ['a 1', 'a 2', 'a gone']);
  }),
);

test('a request that arrives after its write was settled changes nothing', limit, () =>
  proxied(async (store, proxy, tree) => {
    const key = `${tree}a`;
    const start = await direct.currentRevision();
    const created = await losingTheRequest(proxy, () => store.create(key, bytes('1')));
    // Without a fence, the late creation would restore the object when it is delivered.
    await direct.delete(key, created);
    assert.ok(proxy.deliverHeld() > 0, 'the proxy held nothing back');
    await pause(300);
    assert.equal(await direct.get(key), undefined);
    assert.deepEqual(await eventsOf(tree, start), ['a 1', 'a gone']);
  }),
);

test(
  'the outcome of each of many writes is determined although all their answers are lost at once',
  limit,
  () =>
    proxied(async (store, proxy, tree) => {
      const start = await direct.currentRevision();
      const keys = Array.from({ length: 200 }, (_, i) => `${tree}${i}`);
      const writes = keys.map((key) => store.create(key, bytes(key)));
      await pause(5);
      proxy.cut();
      await pause(120);
      proxy.cut();
      const revisions = await Promise.all(writes);
      for (const [i, key] of keys.entries()) assert.equal((await direct.get(key))?.revision, revisions[i]);
      assert.equal((await eventsOf(tree, start)).length, keys.length);
    }),
);

test(
  'a half-open connection is detected: the watch continues, and the outcome of a write is determined',
  limit,
  () =>
    proxied(
      async (store, proxy, tree) => {
        const collector = new Collector(store, tree, await direct.currentRevision());
        const first = await store.create(`${tree}a`, bytes('1'));
        await collector.take(1);
        proxy.freeze();
        const [second, third] = await Promise.all([
          direct.create(`${tree}b`, bytes('2')),
          store.create(`${tree}c`, bytes('3')),
        ]);
        await collector.take(3);
        assert.deepEqual(collector.revisions, [first, ...[second, third].sort((a, b) => a - b)]);
        await collector.stop();
      },
      { keepaliveMs: 1500 },
    ),
);

test('a watch whose history was compacted while it was disconnected ends with CompactedError', limit, () =>
  proxied(async (store, proxy, tree) => {
    let revision = await direct.create(`${tree}a`, bytes('0'));
    const collector = new Collector(store, tree, revision - 1);
    await collector.take(1);
    proxy.freeze();
    for (let i = 1; i <= 5; i++) revision = await direct.update(`${tree}a`, bytes(String(i)), revision);
    await direct.compact(revision);
    proxy.cut();
    const reason = await collector.ended;
    assert.ok(reason instanceof CompactedError);
    assert.equal(reason.compactRevision, revision);
    assert.equal(collector.events.length, 1);
  }),
);

test('a value that is too large is rejected at once, and nothing is written', limit, async () => {
  const tree = freshTree();
  await assert.rejects(direct.create(`${tree}a`, Buffer.alloc(5 << 20)), ValueTooLargeError);
  assert.equal(await direct.get(`${tree}a`), undefined);
});

test('a list succeeds although its objects together are too large for one answer', limit, async () => {
  const tree = freshTree();
  const keys = Array.from({ length: 70 }, (_, at) => `${tree}${at}`).sort();
  for (const key of keys) await direct.create(key, Buffer.alloc(1 << 20, key));
  const { items, more } = await direct.list(tree);
  assert.equal(more, false);
  assert.deepEqual(
    items.map(({ key }) => key),
    keys,
  );
  for (const { key, value } of items) assert.ok(value.equals(Buffer.alloc(1 << 20, key)));
});

test('reads and writes end with StoreUnavailableError if etcd stays unavailable', limit, () =>
  proxied(
    async (store, proxy, tree) => {
      proxy.freeze();
      proxy.muteServer = true;
      await Promise.all([
        assert.rejects(store.get(`${tree}a`), StoreUnavailableError),
        assert.rejects(store.create(`${tree}a`, bytes('1')), StoreUnavailableError),
      ]);
      proxy.muteServer = false;
      proxy.cut();
      await store.get(`${tree}a`);
    },
    { attemptMs: 500, settleMs: 1000, keepaliveMs: 1000 },
  ),
);

test(
  'when etcd is killed under load, each write is reported with its revision and each event arrives once',
  limit,
  async () => {
    const own = await startTestEtcd();
    const store = await own.connect();
    try {
      const tree = freshTree();
      const collector = new Collector(store, tree, await store.currentRevision());
      const acknowledged: number[] = [];
      let running = true;
      const lanes = Array.from({ length: 16 }, async (_, lane) => {
        let revision = await store.create(`${tree}${lane}`, bytes('0'));
        acknowledged.push(revision);
        for (let i = 1; running; i++) {
          revision = await store.update(`${tree}${lane}`, bytes(String(i)), revision);
          acknowledged.push(revision);
        }
      });
      for (let kill = 0; kill < 3; kill++) {
        const enough = acknowledged.length + 500;
        while (acknowledged.length < enough) await Promise.race([pause(10), ...lanes]);
        const pid = own.etcd.pid();
        assert.ok(pid, 'etcd is not running');
        process.kill(pid, 'SIGKILL');
      }
      const enough = acknowledged.length + 500;
      while (acknowledged.length < enough) await Promise.race([pause(10), ...lanes]);
      running = false;
      await Promise.all(lanes);
      acknowledged.sort((a, b) => a - b);
      await collector.take(acknowledged.length);
      assert.deepEqual(collector.revisions, acknowledged);
      await collector.stop();
    } finally {
      await store.close();
      await own.stop();
    }
  },
);
