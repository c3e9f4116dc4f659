/** Cache whose store fails, and the resources that remain at its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ListOptions, type Store, StoreUnavailableError } from '../../../src/storage/store.ts';
import { createWatchCache } from '../../../src/storage/watch-cache.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { body, key, withCache } from './cache-fixture.ts';

/** Runs a cache over the store. */
function begin(store: Store) {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const abort = new AbortController();
  const { cache, run, synced } = createWatchCache({ store, prefix: '/registry/', clock, log });
  const running = run(abort.signal);
  return { cache, clock, log, abort, running, synced };
}

const levels = (log: RecordingLogger) =>
  log.lines.map(({ level }) => level).filter((level) => level !== 'debug');

test('a key without an object is left out, and other keys are served', () => {
  const log = new RecordingLogger();
  const told = () => log.of('error').map(({ fields }) => fields.key);
  return withCache(
    async ({ store, cache, clock, watch }) => {
      assert.deepEqual(told(), [key('rubbish')]);
      const seen = watch('/registry/');
      assert.deepEqual(
        cache.list('/registry/').map((each) => each.key),
        [key('a')],
      );
      const a = cache.get(key('a'))?.revision ?? 0;
      const broken = await store.update(key('a'), Buffer.from('{"half":'), a);
      await clock.advance(10);
      assert.equal(cache.get(key('a')), undefined);
      assert.deepEqual(told(), [key('rubbish'), key('a')]);
      const mended = await store.update(key('a'), body('a'), broken);
      await clock.advance(10);
      assert.equal(cache.get(key('a'))?.revision, mended);
      assert.equal(seen.events.at(-1)?.revision, mended);
      const rubbish = (await store.get(key('rubbish')))?.revision ?? 0;
      await store.delete(key('rubbish'), rubbish);
      await clock.advance(10);
      assert.equal(seen.events.at(-1)?.revision, mended);
      assert.equal(told().length, 2);
    },
    {
      log,
      async seed(store) {
        await store.create(key('a'), body('a'));
        await store.compact(await store.create(key('rubbish'), Buffer.from('rubbish')));
      },
    },
  );
});

test('a cache that stops before it has synced rejects its readers with that reason', async () => {
  const store: Store = {
    ...createMemoryStore(),
    currentRevision: () => Promise.reject(new StoreUnavailableError('no store')),
  };
  const { clock, log, abort, running, synced } = begin(store);
  await clock.advance(49);
  assert.deepEqual(levels(log), ['error']);
  abort.abort();
  // `synced` need not be awaited: its rejection ends no process.
  await clock.settle();
  await running;
  assert.equal(clock.pending, 0);
  await assert.rejects(synced, StoreUnavailableError);
});

test('an endless list is stopped with the cache, without an error', async () => {
  const memory = createMemoryStore();
  const asked: (ListOptions | undefined)[] = [];
  let last = 0;
  const store: Store = {
    ...memory,
    async list(_, options) {
      asked.push(options);
      await new Promise<void>((resolve) => setImmediate(resolve));
      const items = [++last, ++last].map((n) => ({
        key: key(String(n)),
        value: body(String(n)),
        revision: 1,
      }));
      return { items, revision: 1, more: true, remaining: 1 };
    },
  };
  const { log, abort, running } = begin(store);
  // The first list asks whether the store is new.
  while (asked.length < 4) await new Promise<void>((resolve) => setImmediate(resolve));
  abort.abort();
  await running;
  assert.deepEqual(
    asked.slice(1, 4).map((options) => options?.startAfter),
    [undefined, key('4'), key('6')],
  );
  assert.deepEqual(levels(log), []);
});

test('a list ends with the page that reports no further one', async () => {
  const memory = createMemoryStore();
  await memory.compact(await memory.create(key('a'), body('a')));
  let lists = 0;
  const { clock, cache, abort, running } = begin({
    ...memory,
    list(prefix, options) {
      lists++;
      return memory.list(prefix, options);
    },
  });
  await clock.settle();
  assert.equal(cache.list('/registry/').length, 1);
  // The first list asks whether the store is new, the second one for a revision that is compacted.
  assert.equal(lists, 3);
  abort.abort();
  await clock.settle();
  await running;
});

test('lost history is logged as a warning, another failure as an error, the stop of the cache not at all', async () => {
  const log = new RecordingLogger();
  await withCache(
    async ({ clock, loseHistory }) => {
      loseHistory();
      await clock.advance(10);
      assert.deepEqual(levels(log), ['warn']);
    },
    { log },
  );
  assert.deepEqual(levels(log), ['warn']);
  const store = createMemoryStore();
  const closing = begin(store);
  await closing.clock.settle();
  await store.close();
  await closing.clock.settle();
  assert.deepEqual(levels(closing.log), ['error']);
  closing.abort.abort();
  await closing.clock.settle();
  await closing.running;
});

test('the progress of the store is requested at growing intervals', () =>
  withCache(async ({ cache, clock, state }) => {
    state.deaf = true;
    const asked: number[] = [];
    const start = clock.now();
    const abort = new AbortController();
    const waiting = cache.waitUntil(cache.revision + 1, abort.signal);
    for (let ms = 1; ms <= 350; ms++) {
      const before = state.progress;
      await clock.advance(1);
      if (state.progress > before) asked.push(clock.now() - start);
    }
    assert.deepEqual(asked, [2, 10, 42, 142, 242, 342]);
    abort.abort();
    await assert.rejects(waiting);
  }));

test('the progress of the store is not requested without waiting readers', () =>
  withCache(async ({ store, cache, clock, state }) => {
    const abort = new AbortController();
    const waiting = cache.waitUntil(cache.revision + 5, abort.signal);
    abort.abort();
    await assert.rejects(waiting);
    await store.create(key('a'), body('a'));
    await clock.advance(1000);
    const asked = state.progress;
    await clock.advance(1000);
    assert.equal(state.progress, asked);
    assert.equal(clock.pending, 0);
  }));

test('a stopped cache does not ask the store for its progress', async () => {
  const { cache, clock, abort, running } = begin(createMemoryStore());
  await clock.settle();
  const waiting = assert.rejects(cache.waitUntil(1000), StoreUnavailableError);
  assert.equal(clock.pending, 1);
  abort.abort();
  await clock.settle();
  await Promise.all([running, waiting]);
  assert.equal(clock.pending, 0);
});

test('8 MiB of objects stay decoded by default', () =>
  withCache(
    async ({ cache }) => {
      const list = cache.list('/registry/');
      const decoded = list.map(({ object }) => object);
      const kept = list.map(({ object }, at) => object === decoded[at]);
      // Reading a dropped object decodes it again, and another one is dropped.
      assert.equal(kept[0], false);
      const now = list.map(({ object }) => object);
      const last = list.slice(-15).map(({ object }, at) => object === now.slice(-15)[at]);
      assert.ok(last.every(Boolean));
    },
    {
      async seed(store) {
        const note = 'x'.repeat((1 << 19) - 200);
        for (let n = 0; n < 17; n++) await store.create(key(String(n + 10)), body(String(n + 10), note));
      },
    },
  ));
