/** Caches of a store whose history is compacted to the newest revision before each page of a list is read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyChange } from '../../../src/storage/moving-list.ts';
import type { Store, StoredValue } from '../../../src/storage/store.ts';
import { createWatchCache } from '../../../src/storage/watch-cache.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { body, key } from './cache-fixture.ts';

/** Maximum number of objects in one page. */
const pageLength = 3;

/**
 * Returns a store of `count` objects. Before each page, `change` is applied to it, and its history is
 * compacted.
 */
async function compactedStore(count: number, change: (memory: Store, page: number) => Promise<unknown>) {
  const memory = createMemoryStore();
  for (let at = 0; at < count; at++) await memory.create(key(name(at)), body(name(at)));
  let pages = 0;
  const store: Store = {
    ...memory,
    async list(prefix, options) {
      await change(memory, pages++);
      await memory.compact(await memory.currentRevision());
      return memory.list(prefix, { ...options, limit: Math.min(options?.limit ?? pageLength, pageLength) });
    },
  };
  return { memory, store };
}

const name = (at: number) => `p${String(at).padStart(3, '0')}`;

async function touch(memory: Store, at: number): Promise<void> {
  const found = await memory.get(key(name(at)));
  if (found) await memory.update(found.key, body(name(at), 'changed'), found.revision);
  else await memory.create(key(name(at)), body(name(at), 'again'));
}

async function remove(memory: Store, at: number): Promise<void> {
  const found = await memory.get(key(name(at)));
  if (found) await memory.delete(found.key, found.revision);
}

const contents = async (store: Pick<Store, 'list'>) =>
  (await store.list('/registry/')).items.map((item) => [item.key, item.revision]);

test('a cache starts on a store that is compacted before each page, with the changes made meanwhile', async () => {
  const { memory, store } = await compactedStore(40, async (memory, page) => {
    await touch(memory, 0);
    await touch(memory, (page * 7) % 40);
    await remove(memory, (page * 11) % 40);
    await touch(memory, 40 + page);
  });
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const { cache, run, synced } = createWatchCache({ store, prefix: '/registry/', clock, log });
  const abort = new AbortController();
  const running = run(abort.signal);
  let isReady = false;
  void synced.then(() => {
    isReady = true;
  });
  for (let step = 0; !isReady && step < 100; step++) await clock.advance(100);
  assert.ok(isReady, 'the cache did not start in ten seconds');
  const cached = () => cache.list('/registry/').map((object) => [object.key, object.revision]);
  assert.deepEqual(cached(), await contents(memory));
  const warned = log.lines.filter(({ message }) => message.includes('compacted history'));
  assert.equal(warned.length, 1);
  await remove(memory, 1);
  await touch(memory, 99);
  await clock.advance(200);
  assert.deepEqual(cached(), await contents(memory), 'changes after the list arrive');
  abort.abort();
  await clock.settle();
  await running;
  assert.equal(clock.pending, 0);
});

test('a watch that breaks while a moving store is listed restarts the list', async () => {
  const { memory, store } = await compactedStore(20, (memory) => touch(memory, 0));
  let watches = 0;
  const breaking: Store = {
    ...store,
    async *watch(prefix, after, signal) {
      const broken = ++watches < 3;
      for await (const batch of memory.watch(prefix, after, signal)) {
        yield batch;
        if (broken && batch.events.length > 0) return;
      }
    },
  };
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const { cache, run, synced } = createWatchCache({ store: breaking, prefix: '/registry/', clock, log });
  const abort = new AbortController();
  const running = run(abort.signal);
  let isReady = false;
  void synced.then(() => {
    isReady = true;
  });
  for (let step = 0; !isReady && step < 100; step++) await clock.advance(100);
  assert.ok(isReady, 'the cache did not start in ten seconds');
  assert.deepEqual(
    cache.list('/registry/').map((object) => [object.key, object.revision]),
    await contents(memory),
  );
  abort.abort();
  await clock.settle();
  await running;
});

test('an item that was read after a change is not replaced by the older event', () => {
  const value = Buffer.from('v');
  const items = new Map<string, StoredValue>([['/a', { key: '/a', value, revision: 5 }]]);
  const revisions = () => [...items.values()].map((item) => `${item.key} ${item.revision}`);
  applyChange(items, { type: 'put', key: '/a', value: Buffer.from('old'), revision: 4 });
  applyChange(items, { type: 'delete', key: '/a', revision: 3 });
  assert.deepEqual([revisions(), items.get('/a')?.value], [['/a 5'], value]);
  applyChange(items, { type: 'put', key: '/b', value, revision: 6 });
  applyChange(items, { type: 'delete', key: '/a', revision: 7 });
  assert.deepEqual(revisions(), ['/b 6']);
});
