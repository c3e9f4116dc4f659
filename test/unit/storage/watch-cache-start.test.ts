/** Cache that starts on a store with a history: watchers of the previous cache resume. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { Cache, CacheEvent } from '../../../src/storage/cache.ts';
import { encodeObject } from '../../../src/storage/codec.ts';
import { CompactedError, type Store, StoreUnavailableError } from '../../../src/storage/store.ts';
import { createWatchCache } from '../../../src/storage/watch-cache.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';

const key = (name: string) => `/registry/pods/default/${name}`;

function body(name: string, note = ''): Buffer {
  const metadata = { name, uid: name, resourceVersion: '', creationTimestamp: '' };
  return encodeObject({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { note } } as KubeObject);
}

async function withStarted(
  store: Store,
  use: (cache: Cache, clock: FakeClock) => Promise<void>,
): Promise<void> {
  const clock = new FakeClock();
  const watchCache = createWatchCache({ store, prefix: '/registry/', clock, log: silentLogger });
  const abort = new AbortController();
  const running = watchCache.run(abort.signal);
  const ready = watchCache.synced.then(() => true);
  // Progress is requested only for a revision without an event, and only such a request takes time.
  while (!(await Promise.race([ready, clock.settle().then(() => false)]))) await clock.advance(100);
  try {
    await use(watchCache.cache, clock);
  } finally {
    abort.abort();
    await clock.settle();
    await running;
  }
}

async function eventsAfter(cache: Cache, clock: FakeClock, revision: number): Promise<CacheEvent[]> {
  const events: CacheEvent[] = [];
  const stop = cache.watch('/registry/pods/', revision, {
    onEvents: (more) => void events.push(...more),
    onExpired: () => assert.fail('the watch was expired'),
  });
  await clock.advance(10);
  stop();
  return events;
}

const shape = ({ type, revision, current, previous }: CacheEvent) =>
  [type, revision, noteOf(current.object), previous && noteOf(previous.object)] as const;
const noteOf = (object: KubeObject) => (object as unknown as { spec: { note: string } }).spec.note;

test('a watcher that resumes gets the events from before the start, with the previous objects', async () => {
  const store = createMemoryStore();
  const a1 = await store.create(key('a'), body('a', 'one'));
  const b1 = await store.create(key('b'), body('b', 'only'));
  const a2 = await store.update(key('a'), body('a', 'two'), a1);
  const b2 = await store.delete(key('b'), b1);
  await withStarted(store, async (cache, clock) => {
    assert.equal(cache.revision, b2);
    assert.deepEqual(
      cache.list('/registry/').map((object) => [object.key, object.revision]),
      [[key('a'), a2]],
    );
    assert.deepEqual((await eventsAfter(cache, clock, a1)).map(shape), [
      ['ADDED', b1, 'only', undefined],
      ['MODIFIED', a2, 'two', 'one'],
      ['DELETED', b2, 'only', 'only'],
    ]);
    assert.deepEqual((await eventsAfter(cache, clock, a2)).map(shape), [['DELETED', b2, 'only', 'only']]);
    const a3 = await store.update(key('a'), body('a', 'three'), a2);
    await clock.advance(10);
    assert.deepEqual((await eventsAfter(cache, clock, b2)).map(shape), [['MODIFIED', a3, 'three', 'two']]);
  });
});

test('no reader is served before all events up to the start are applied', async () => {
  const store = createMemoryStore();
  await store.create(key('a'), body('a'));
  const elsewhere = await store.create('/elsewhere/a', body('a'));
  await withStarted(store, async (cache) => {
    assert.ok(cache.revision >= elsewhere, `${cache.revision} is before ${elsewhere}`);
  });
});

test('the cache is synced only after the events up to the start', async () => {
  const memory = createMemoryStore();
  for (const name of ['a', 'b', 'c']) await memory.create(key(name), body(name));
  const gate = Promise.withResolvers<void>();
  const store: Store = {
    ...memory,
    async *watch(...watched) {
      await gate.promise;
      yield* memory.watch(...watched);
    },
  };
  const clock = new FakeClock();
  const { cache, run, synced } = createWatchCache({ store, prefix: '/registry/', clock, log: silentLogger });
  const abort = new AbortController();
  const running = run(abort.signal);
  let ready = false;
  void synced.then(() => {
    ready = true;
  });
  await clock.settle();
  assert.ok(cache.revision > 0 && !ready, 'what was there before is listed, and no more');
  gate.resolve();
  while (!ready) await clock.advance(100);
  assert.equal(cache.list('/registry/').length, 3);
  abort.abort();
  await clock.settle();
  await running;
});

test('a watch from a compacted revision is rejected, and one from a later revision is accepted', async () => {
  const store = createMemoryStore();
  const revisions: number[] = [];
  for (const name of ['a', 'b', 'c', 'd']) revisions.push(await store.create(key(name), body(name)));
  const [, second = 0] = revisions;
  await store.compact(second);
  await withStarted(store, async (cache, clock) => {
    assert.throws(
      () => cache.watch('/registry/', second - 1, { onEvents() {}, onExpired() {} }),
      CompactedError,
    );
    const events = await eventsAfter(cache, clock, second);
    assert.deepEqual(
      events.map(({ revision }) => revision),
      revisions.slice(2),
    );
  });
});

test('the oldest kept revision is requested by a watch if the store does not report it', async () => {
  const memory = createMemoryStore();
  const revisions: number[] = [];
  for (const name of ['a', 'b', 'c', 'd']) revisions.push(await memory.create(key(name), body(name)));
  const [, second = 0] = revisions;
  await memory.compact(second);
  const silent: Store = {
    ...memory,
    list: (prefix, options) =>
      memory.list(prefix, options).catch((error: Error) => {
        throw new CompactedError(error.message, undefined);
      }),
  };
  await withStarted(silent, async (cache, clock) => {
    const events = await eventsAfter(cache, clock, second);
    assert.deepEqual(
      events.map(({ revision }) => revision),
      revisions.slice(2),
    );
  });
});

test('a list of several pages is of one revision: changes between the pages arrive as events', async () => {
  const memory = createMemoryStore();
  let last = 0;
  for (let count = 0; count < 2501; count++) last = await memory.create(key(`a-${count}`), body('a'));
  await memory.compact(last);
  let between = 0;
  const store: Store = {
    ...memory,
    async list(prefix, options) {
      if (options?.startAfter !== undefined && between === 0)
        between = await memory.create(key('z'), body('z', 'new'));
      return memory.list(prefix, options);
    },
  };
  await withStarted(store, async (cache, clock) => {
    await clock.advance(10);
    assert.deepEqual((await eventsAfter(cache, clock, last)).map(shape), [
      ['ADDED', between, 'new', undefined],
    ]);
    assert.equal(cache.list('/registry/').length, 2502);
  });
});

test('a failing watch is opened again at growing intervals, until it delivers', async () => {
  const memory = createMemoryStore();
  const clock = new FakeClock();
  const start = clock.now();
  const asked: number[] = [];
  const store: Store = {
    ...memory,
    // biome-ignore lint/correctness/useYield: it fails before it has anything
    async *watch() {
      asked.push(clock.now() - start);
      throw new StoreUnavailableError('no watch');
    },
  };
  const abort = new AbortController();
  const { run } = createWatchCache({ store, prefix: '/registry/', clock, log: silentLogger });
  const running = run(abort.signal);
  await clock.advance(7000);
  assert.deepEqual(asked, [0, 50, 150, 350, 750, 1550, 3150, 5150]);
  // The next list contains something new.
  await memory.create(key('a'), body('a'));
  await clock.advance(300);
  assert.deepEqual(asked.slice(8), [7150, 7200, 7300]);
  abort.abort();
  await clock.settle();
  await running;
});
