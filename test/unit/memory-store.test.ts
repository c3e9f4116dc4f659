/** Compaction and watch progress of the store in memory, beyond the contract of every store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CompactedError,
  RevisionMismatchError,
  type Store,
  StoreRejectedError,
  StoreUnavailableError,
  type WatchBatch,
} from '../../src/storage/store.ts';
import { createMemoryStore } from '../fixtures/memory-store.ts';

const bytes = Buffer.from('x');
const settle = async () => {
  for (let turn = 0; turn < 4; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
};

/** Watches and records the delivered batches. */
function watch(store: Store, prefix: string, after: number) {
  const batches: WatchBatch[] = [];
  const abort = new AbortController();
  const ended = (async () => {
    for await (const batch of store.watch(prefix, after, abort.signal)) batches.push(batch);
  })();
  const seen = () => batches.map(({ events, revision }) => [events.map((each) => each.key), revision]);
  return { seen, batches, abort, ended };
}

/** Writes `count` times to one key; the first write has revision 2. */
async function writes(store: Store, count: number): Promise<number> {
  let revision = await store.create('/r/a', bytes);
  for (let n = 1; n < count; n++) revision = await store.update('/r/a', bytes, revision);
  return revision;
}

/** Returns the oldest revision that can be read. */
async function oldest(store: Store): Promise<number> {
  for (let revision = 0; ; revision++)
    try {
      await store.list('/r/', { revision });
      return revision;
    } catch (error) {
      assert.ok(error instanceof CompactedError);
    }
}

test('the older half of a history that is too long is compacted', async () => {
  for (const [count, kept] of [
    [10, 0],
    [11, 7],
    [16, 7],
    [17, 13],
  ] as const) {
    const store = createMemoryStore({ maxHistory: 10 });
    const last = await writes(store, count);
    assert.equal(await oldest(store), kept, `${count} writes`);
    const { batches, abort, ended } = watch(store, '/r/', kept);
    await settle();
    assert.deepEqual(
      batches.flatMap(({ events }) => events.map(({ revision }) => revision)),
      Array.from({ length: last - Math.max(kept, 1) }, (_, at) => at + Math.max(kept, 1) + 1),
    );
    abort.abort();
    await ended;
  }
});

test('a compacted store has the objects of that revision and no deletions', async () => {
  const store = createMemoryStore();
  const first = await store.create('/r/a', bytes);
  const second = await store.update('/r/a', bytes, first);
  const deleted = await store.delete('/r/b', await store.create('/r/b', bytes));
  const late = await store.create('/r/c', bytes);
  const list = async (revision?: number) =>
    (await store.list('/r/', revision === undefined ? {} : { revision })).items.map((item) => [
      item.key,
      item.revision,
    ]);
  await store.compact(deleted);
  assert.deepEqual(await list(deleted), [['/r/a', second]]);
  await assert.rejects(store.list('/r/', { revision: deleted - 1 }), CompactedError);
  await store.compact(first);
  await assert.rejects(store.list('/r/', { revision: deleted - 1 }), CompactedError);
  const again = await store.create('/r/b', bytes);
  assert.deepEqual(await list(), [
    ['/r/a', second],
    ['/r/b', again],
    ['/r/c', late],
  ]);
  await assert.rejects(watch(store, '/r/', first).ended, (error) => {
    assert.ok(error instanceof CompactedError);
    assert.equal(error.message, `revision ${first + 1} is gone; the oldest kept is ${deleted}`);
    assert.equal(error.compactRevision, deleted);
    return true;
  });
});

test('a list at a future revision is rejected', async () => {
  const store = createMemoryStore();
  const next = (await store.currentRevision()) + 1;
  await assert.rejects(store.list('/r/', { revision: next }), StoreRejectedError);
  await assert.rejects(store.compact(next), StoreRejectedError);
});

test('a closed store rejects every call', async () => {
  const store = createMemoryStore();
  const made = await store.create('/r/a', bytes);
  const { ended } = watch(store, '/r/', made);
  const told = assert.rejects(ended, StoreUnavailableError);
  await store.close();
  for (const call of [
    store.get('/r/a'),
    store.list('/r/'),
    store.currentRevision(),
    store.create('/r/b', bytes),
    store.update('/r/a', bytes, made),
    store.delete('/r/a', made),
    store.compact(made),
    told.then(() => Promise.reject(new StoreUnavailableError(''))),
  ])
    await assert.rejects(call, StoreUnavailableError);
});

test('a write at an outdated revision is rejected with the current value', async () => {
  const store = createMemoryStore();
  const made = await store.create('/r/a', bytes);
  for (const [key, message] of [
    ['/r/a', `/r/a is at revision ${made}, not ${made + 1}`],
    ['/r/b', `/r/b does not exist at revision ${made + 1}`],
  ] as const)
    await assert.rejects(store.update(key, bytes, made + 1), (error) => {
      assert.ok(error instanceof RevisionMismatchError);
      assert.equal(error.message, message);
      return true;
    });
});

test('many events are delivered in several batches', async () => {
  const store = createMemoryStore();
  const last = await writes(store, 1500);
  const { batches, abort, ended } = watch(store, '/r/', 0);
  await settle();
  assert.deepEqual(
    batches.map(({ events, revision }) => [events.length, revision]),
    [
      [1000, 1001],
      [500, last],
    ],
  );
  abort.abort();
  await ended;
});

test('a progress request is answered once, after all earlier events', async () => {
  const store = createMemoryStore();
  const { seen, abort, ended } = watch(store, '/r/', 1);
  await settle();
  store.requestProgress();
  const own = store.create('/r/a', bytes);
  await settle();
  assert.deepEqual(seen(), [[['/r/a'], await own]]);
  store.requestProgress();
  const others = Array.from({ length: 1500 }, (_, n) => store.create(`/other/${n}`, bytes));
  await settle();
  assert.deepEqual(seen().slice(1), [[[], await others.at(-1)]]);
  abort.abort();
  await ended;
});

test('a watch gets its event after many events of other keys', async () => {
  const store = createMemoryStore();
  const { seen, abort, ended } = watch(store, '/r/', 1);
  await settle();
  for (let n = 0; n < 1500; n++) void store.create(`/other/${n}`, bytes);
  const own = store.create('/r/a', bytes);
  await settle();
  assert.deepEqual(seen(), [[['/r/a'], await own]]);
  abort.abort();
  await ended;
});

test('a progress request does not move a watch from the future back', async () => {
  const store = createMemoryStore();
  const { seen, abort, ended } = watch(store, '/r/', 2);
  await settle();
  store.requestProgress();
  await settle();
  assert.deepEqual(seen(), [[[], 2]]);
  await store.create('/r/a', bytes);
  const second = await store.create('/r/b', bytes);
  await settle();
  assert.deepEqual(seen().slice(1), [[['/r/b'], second]]);
  abort.abort();
  await ended;
});

test('an aborted watch yields nothing', async () => {
  const store = createMemoryStore();
  await store.create('/r/a', bytes);
  for await (const _ of store.watch('/r/', 0, AbortSignal.abort())) assert.fail();
});
