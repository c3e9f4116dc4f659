/** The watch cache on a real etcd: invariants under every fault of the server. */
import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { KubeObject } from '../../src/apimachinery/meta.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { CacheEvent } from '../../src/storage/cache.ts';
import { encodeObject } from '../../src/storage/codec.ts';
import { startEmbeddedEtcd } from '../../src/storage/embedded-etcd.ts';
import { CompactedError, type Store, StoreUnavailableError } from '../../src/storage/store.ts';
import { createWatchCache } from '../../src/storage/watch-cache.ts';
import { binaries, startTestEtcd } from './etcd-server.ts';

const limit = { timeout: 180_000 };

function body(name: string, note: number): Buffer {
  const metadata = { name, uid: name, resourceVersion: '', creationTimestamp: '' };
  return encodeObject({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { note } } as KubeObject);
}

async function withCache(
  store: Store,
  use: (cache: ReturnType<typeof createWatchCache>['cache']) => Promise<void>,
): Promise<void> {
  const abort = new AbortController();
  const watchCache = createWatchCache({ store, prefix: '/registry/', clock: systemClock, log: silentLogger });
  const running = watchCache.run(abort.signal);
  await watchCache.synced;
  try {
    await use(watchCache.cache);
  } finally {
    abort.abort();
    await running;
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function assertEqualToStore(store: Store, cache: ReturnType<typeof createWatchCache>['cache']) {
  const listed = await store.list('/registry/');
  await cache.waitUntil(listed.revision, AbortSignal.timeout(120_000));
  assert.deepEqual(
    cache.list('/registry/').map((object) => [object.key, object.revision]),
    listed.items.map((item) => [item.key, item.revision]),
  );
}

test(
  'watches get every event once and the cache equals the store although etcd is killed under load',
  limit,
  async () => {
    const server = await startTestEtcd();
    const store = await server.connect();
    try {
      await withCache(store, async (cache) => {
        const seen: number[] = [];
        const expired: string[] = [];
        cache.watch('/registry/', cache.revision, {
          onEvents: (events) => void seen.push(...events.map((event) => event.revision)),
          onExpired: () => void expired.push('expired'),
        });
        const written: number[] = [];
        const lanes = Array.from({ length: 16 }, async (_, lane) => {
          const key = `/registry/pods/ns${lane % 3}/${lane}`;
          let revision = 0;
          for (let i = 0; i < 100; i++) {
            if (revision === 0) revision = await store.create(key, body(String(lane), i));
            else if (i % 10 === 9) revision = 0 * written.push(await store.delete(key, revision));
            else revision = await store.update(key, body(String(lane), i), revision);
            if (revision > 0) written.push(revision);
            if (written.length === 400 || written.length === 1000) {
              const pid = server.etcd.pid();
              assert.ok(pid !== undefined, 'it has just answered');
              process.kill(pid, 'SIGKILL');
            }
          }
        });
        await Promise.all(lanes);
        await cache.waitUntil(Math.max(...written), AbortSignal.timeout(120_000));
        const patience = AbortSignal.timeout(120_000);
        while (seen.length < written.length && !patience.aborted) await pause(20);
        await pause(20);
        assert.deepEqual(
          seen,
          written.sort((a, b) => a - b),
        );
        assert.deepEqual(expired, []);
        await assertEqualToStore(store, cache);
      });
    } finally {
      await store.close();
      await server.stop();
    }
  },
);

test('watches resume at a restarted cache after any revision that was not compacted', limit, async () => {
  const server = await startTestEtcd();
  const store = await server.connect();
  try {
    const written: number[] = [];
    const lane = async (name: string, times: number) => {
      const key = `/registry/pods/a/${name}`;
      for (let i = 1; i <= times; i++) {
        const created = await store.create(key, body(name, i));
        const updated = await store.update(key, body(name, -i), created);
        written.push(created, updated, await store.delete(key, updated));
      }
    };
    await lane('early', 20);
    // The compacted revision is the deletion itself: etcd forgets it with everything before it.
    const compacted = Math.max(...written);
    await store.compact(compacted);
    await Promise.all(['x', 'y', 'z'].map((name) => lane(name, 20)));
    const expected = written.filter((revision) => revision > compacted).sort((a, b) => a - b);
    await withCache(store, async (cache) => {
      const none = { onEvents: () => undefined, onExpired: () => undefined };
      assert.throws(() => cache.watch('/registry/', compacted - 1, none), CompactedError);
      const resumed = [compacted, expected[0], expected[90], expected[178], expected[179]].map(
        (after = 0) => {
          const seen: CacheEvent[] = [];
          const onEvents = (events: readonly CacheEvent[]) => void seen.push(...events);
          cache.watch('/registry/', after, { onEvents, onExpired: () => assert.fail('expired') });
          return { after, seen };
        },
      );
      const last = await store.create('/registry/pods/a/last', body('last', 1));
      const patience = AbortSignal.timeout(120_000);
      while (resumed.some(({ seen }) => seen.at(-1)?.revision !== last) && !patience.aborted) await pause(20);
      for (const { after, seen } of resumed) {
        assert.deepEqual(
          seen.map(({ revision }) => revision),
          [...expected, last].filter((revision) => revision > after),
        );
      }
      const [all] = resumed;
      for (const { type, previous, current } of all?.seen ?? []) {
        const note = (object: KubeObject | undefined) =>
          (object as { spec?: { note?: number } } | undefined)?.spec?.note;
        const [now, before] = [note(current.object), note(previous?.object)];
        if (type === 'ADDED') assert.equal(before, undefined);
        else if (type === 'MODIFIED') assert.equal(now, -(before ?? Number.NaN));
        else assert.equal(now, before);
      }
      await assertEqualToStore(store, cache);
    });
  } finally {
    await store.close();
    await server.stop();
  }
});

test('the cache reaches a revision that no event under its prefix has', limit, async () => {
  const server = await startTestEtcd();
  const store = await server.connect();
  try {
    await withCache(store, async (cache) => {
      for (let i = 0; i < 20; i++) {
        const revision = await store.create(`/elsewhere/${i}`, Buffer.from('x'));
        await cache.waitUntil(revision, AbortSignal.timeout(120_000));
        assert.ok(cache.revision >= revision);
      }
      assert.deepEqual(cache.list('/registry/'), []);
    });
  } finally {
    await store.close();
    await server.stop();
  }
});

test(
  'after etcd has lost its data, watches end with an error, reads return the present objects, and writes work',
  limit,
  async () => {
    const server = await startTestEtcd();
    const store = await server.connect();
    let second: Awaited<ReturnType<typeof startEmbeddedEtcd>> | undefined;
    try {
      await withCache(store, async (cache) => {
        let revision = await store.create('/registry/pods/a/old', body('old', 0));
        for (let i = 1; i < 50; i++)
          revision = await store.update('/registry/pods/a/old', body('old', i), revision);
        await cache.waitUntil(revision);
        const expired = new Promise<void>((resolve) => {
          cache.watch('/registry/services/', cache.revision, {
            onEvents: () => undefined,
            onExpired: resolve,
          });
        });
        await server.etcd.stop();
        const dataDir = path.join(server.directory, 'etcd');
        for (const name of await readdir(dataDir)) await rm(path.join(dataDir, name), { recursive: true });
        second = await startEmbeddedEtcd({
          ...binaries,
          dataDir,
          log: silentLogger,
          clock: systemClock,
          signal: new AbortController().signal,
        });
        // The outcome of a write during the change is unknown.
        await store.create('/registry/pods/a/new', body('new', 0)).catch((error) => {
          assert.ok(error instanceof StoreUnavailableError);
          return store.create('/registry/pods/a/new', body('new', 0));
        });
        await expired;
        await assertEqualToStore(store, cache);
        assert.deepEqual(
          cache.list('/registry/').map((object) => object.key),
          ['/registry/pods/a/new'],
        );
      });
    } finally {
      await store.close();
      await second?.stop();
      await server.stop();
    }
  },
);
