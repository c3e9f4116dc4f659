import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { CompactedError, type Store, StoreUnavailableError } from '../../../src/storage/store.ts';
import { body, type Fixture, key, pod, type Seen, shape, withCache } from './cache-fixture.ts';

test('objects stored before and after the start are served frozen, with their resourceVersion', () =>
  withCache(
    async ({ store, cache, clock }) => {
      const created = await store.create(key('b'), body('b'));
      await clock.settle();
      for (const [name, revision] of [
        ['a', 2],
        ['b', created],
      ] as const) {
        const cached = cache.get(key(name));
        assert.ok(cached);
        const expected = {
          ...pod(name),
          metadata: { ...pod(name).metadata, resourceVersion: String(revision) },
        };
        assert.equal(cached.revision, revision);
        assert.deepEqual(cached.object, expected);
        assert.deepEqual(JSON.parse(cached.bytes.toString()), expected);
        assert.ok(Object.isFrozen(cached.object.metadata));
        assert.equal(cached.object, cached.object);
      }
      assert.equal(cache.get(key('c')), undefined);
      assert.equal(cache.revision, created);
    },
    { seed: async (store) => void (await store.create(key('a'), body('a'))) },
  ));

test('events carry the previous object and the encoded bytes', () =>
  withCache(async ({ store, cache, watch, clock }) => {
    const seen = watch('/registry/pods/');
    const a1 = await store.create(key('a'), body('a', 'one'));
    const a2 = await store.update(key('a'), body('a', 'two'), a1);
    const a3 = await store.delete(key('a'), a2);
    await store.create('/registry/configmaps/default/a', body('a'));
    await clock.advance(10);
    assert.deepEqual(shape(seen.events), [`ADDED a@${a1}`, `MODIFIED a@${a2}`, `DELETED a@${a3}`]);
    const [added, modified, deleted] = seen.events;
    assert.ok(added && modified && deleted);
    assert.equal(added.previous, undefined);
    assert.equal(modified.previous, added.current);
    assert.equal(deleted.previous, modified.current);
    // The last state, at the revision of the deletion.
    const last = { ...pod('a', 'two'), metadata: { ...pod('a').metadata, resourceVersion: String(a3) } };
    assert.deepEqual(deleted.current.object, last);
    for (const event of seen.events) {
      const line = event.frame.toString();
      assert.ok(line.endsWith('}\n'));
      assert.deepEqual(JSON.parse(line), { type: event.type, object: event.current.object });
    }
    assert.equal(cache.get(key('a')), undefined);
  }));

test('all watchers of an event share one frame, and the object shares its bytes', () =>
  withCache(async ({ store, watch, clock, cache }) => {
    const seen = Array.from({ length: 50 }, (_, i) =>
      watch(i % 2 ? '/registry/pods/' : '/registry/pods/default/'),
    );
    await store.create(key('a'), body('a'));
    await clock.advance(10);
    const frame = seen[0]?.events[0]?.frame;
    assert.ok(frame);
    for (const { events } of seen) {
      assert.equal(events.length, 1);
      assert.equal(events[0]?.frame, frame);
    }
    assert.equal(cache.get(key('a'))?.bytes.buffer, frame.buffer);
  }));

test('the first event is sent at once, and the events within the window after it together', () =>
  withCache(async ({ store, watch, clock }) => {
    const seen = watch('/registry/');
    await store.create(key('a'), body('a'));
    await clock.settle();
    assert.deepEqual(seen.calls, [1]);
    for (const name of ['b', 'c', 'd']) {
      await store.create(key(name), body(name));
      await clock.settle();
    }
    assert.deepEqual(seen.calls, [1]);
    await clock.advance(2);
    assert.deepEqual(seen.calls, [1, 3]);
    await clock.advance(2);
    assert.equal(clock.pending, 0);
    await store.create(key('e'), body('e'));
    await clock.settle();
    assert.deepEqual(seen.calls, [1, 3, 1]);
    assert.equal(seen.revisions.at(-1), seen.events.at(-1)?.revision);
  }));

test('a watcher resumes anywhere in the history and loses and repeats nothing', () =>
  withCache(async ({ store, watch, clock, cache }) => {
    const start = cache.revision;
    const live = watch('/registry/pods/', start);
    const resumed: Seen[] = [];
    let revision = await store.create(key('a'), body('a', '0'));
    for (let i = 1; i <= 30; i++) {
      revision = await store.update(key('a'), body('a', String(i)), revision);
      // Some watches begin while events wait for their flush, some after it.
      if (i % 3 === 0) await clock.settle();
      if (i % 5 === 0) await clock.advance(2);
      resumed.push(watch('/registry/pods/', start + (i % 7)));
    }
    await clock.advance(10);
    assert.equal(live.events.length, 31);
    for (const [i, seen] of resumed.entries()) {
      const from = start + ((i + 1) % 7);
      assert.deepEqual(shape(seen.events), shape(live.events.filter((event) => event.revision > from)));
    }
  }));

test('a watch that starts at a future revision gets no earlier events', () =>
  withCache(async ({ store, watch, clock, cache }) => {
    const seen = watch('/registry/', cache.revision + 1);
    await store.create(key('a'), body('a'));
    const second = await store.create(key('b'), body('b'));
    await clock.advance(10);
    assert.deepEqual(shape(seen.events), [`ADDED b@${second}`]);
  }));

test('an ended watch gets no events, and a watch that fails does not affect other watches', () =>
  withCache(async ({ store, watch, clock, cache }) => {
    const ended = watch('/registry/');
    const self = watch('/registry/');
    let calls = 0;
    const stop = cache.watch('/registry/', cache.revision, {
      onEvents() {
        calls++;
        stop();
        self.stop();
        next.stop();
        throw new Error('broken watcher');
      },
      onExpired() {},
    });
    const next = watch('/registry/');
    const other = watch('/registry/');
    ended.stop();
    await store.create(key('a'), body('a'));
    await clock.advance(10);
    await store.create(key('b'), body('b'));
    await clock.advance(10);
    assert.equal(calls, 1);
    assert.equal(ended.events.length, 0);
    assert.equal(self.events.length, 1);
    assert.equal(next.events.length, 0);
    assert.equal(other.events.length, 2);
  }));

test('a watch from before the kept history is rejected, and a watch within it is accepted', () =>
  withCache(
    async ({ store, watch, clock }) => {
      const revisions: number[] = [];
      for (let i = 0; i < 6; i++) {
        revisions.push(await store.create(key(String(i)), body(String(i))));
        await clock.advance(10);
      }
      // The limit keeps four of six events; two of these are too old, but the minimum of three stays.
      const oldest = revisions[2] ?? 0;
      assert.throws(() => watch('/registry/', oldest - 1), {
        name: 'CompactedError',
        compactRevision: oldest,
      });
      const seen = watch('/registry/', oldest);
      await clock.settle();
      assert.deepEqual(
        seen.events.map((event) => event.revision),
        revisions.slice(3),
      );
    },
    { history: { minEvents: 3, maxEvents: 4, maxAgeMs: 15, maxBytes: 1 << 20 } },
  ));

test('a watch from before the history that fits into maxBytes is rejected', () =>
  withCache(
    async ({ store, watch, clock, cache }) => {
      const before = watch('/registry/');
      const revisions: number[] = [];
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        revisions.push(await store.create(key(name), body(name, 'x'.repeat(1000))));
        await clock.advance(10);
      }
      const frame = before.events[0]?.frame.length ?? 0;
      assert.ok(frame * 3 <= 4000 && frame * 4 > 4000, `frames have ${frame} bytes: three are to be kept`);
      assert.throws(() => watch('/registry/', (revisions[1] ?? 0) - 1), CompactedError);
      const seen = watch('/registry/', revisions[1]);
      await clock.settle();
      assert.deepEqual(
        seen.events.map((event) => event.revision),
        revisions.slice(2),
      );
      assert.equal(cache.list('/registry/').length, 5);
    },
    { history: { minEvents: 100, maxEvents: 1000, maxAgeMs: 1_000_000, maxBytes: 4000 } },
  ));

test('a wait for a revision ends at once if the cache has it, and by a progress report if no event follows', () =>
  withCache(async ({ store, cache, clock, state }) => {
    await cache.waitUntil(cache.revision);
    const held = Promise.withResolvers<void>();
    state.held = held.promise;
    const written = await store.create(key('a'), body('a'));
    let reached = 0;
    const waits = [written, written].map((revision) => cache.waitUntil(revision).then(() => void reached++));
    await clock.settle();
    assert.equal(reached, 0);
    held.resolve();
    await clock.settle();
    await Promise.all(waits);
    assert.ok(cache.get(key('a')));
    // No request waits any more, so that no progress is requested.
    await clock.advance(1000);
    assert.equal(state.progress, 0);
    const elsewhere = await store.create('/elsewhere/a', body('a'));
    const wait = cache.waitUntil(elsewhere);
    await clock.advance(1);
    assert.equal(state.progress, 0);
    await clock.advance(1);
    await wait;
    assert.equal(state.progress, 1);
    assert.equal(clock.pending, 0);
  }));

test('a store without progress is queried at growing intervals, which do not delay a later reader', () =>
  withCache(async ({ store, cache, clock, state }) => {
    const held = Promise.withResolvers<void>();
    state.held = held.promise;
    const first = cache.waitUntil(await store.create('/elsewhere/a', body('a')));
    await clock.advance(2);
    state.deaf = true;
    await clock.advance(198);
    assert.equal(state.progress, 4);
    const second = cache.waitUntil(await store.create('/elsewhere/b', body('b')));
    held.resolve();
    await first;
    state.deaf = false;
    await clock.advance(2);
    await second;
    assert.equal(state.progress, 5);
  }));

test('a reader of a revision without an event is served even if other readers had their event', () =>
  withCache(async ({ store, cache, clock, state }) => {
    const held = Promise.withResolvers<void>();
    state.held = held.promise;
    const first = cache.waitUntil(await store.create(key('a'), body('a')));
    await clock.settle();
    const second = cache.waitUntil(await store.create('/elsewhere/a', body('a')));
    held.resolve();
    await first;
    assert.equal(state.progress, 0);
    await clock.advance(5);
    await second;
    assert.equal(state.progress, 1);
    assert.equal(clock.pending, 0);
  }));

test('a wait for a revision is rejected when its signal aborts and when the cache stops', async () => {
  let late: Promise<void> | undefined;
  let cacheOfLate: Fixture['cache'] | undefined;
  await withCache(async ({ cache, clock }) => {
    const abort = new AbortController();
    const wait = cache.waitUntil(cache.revision + 1, abort.signal);
    abort.abort(new Error('client went away'));
    await assert.rejects(wait, /client went away/);
    assert.equal(getEventListeners(abort.signal, 'abort').length, 0);
    await assert.rejects(cache.waitUntil(cache.revision + 1, abort.signal), /client went away/);
    late = cache.waitUntil(cache.revision + 1);
    late.catch(() => undefined);
    cacheOfLate = cache;
    await clock.settle();
  });
  await assert.rejects(late ?? Promise.resolve(), StoreUnavailableError);
  await assert.rejects(cacheOfLate?.waitUntil(1000) ?? Promise.resolve(), StoreUnavailableError);
});

test('after the store lost its history the cache is correct again, and only watches that missed events expire', () =>
  withCache(
    async ({ store, cache, clock, watch, loseHistory }) => {
      const before = cache.revision;
      const pods = watch('/registry/pods/');
      const services = watch('/registry/services/');
      const kept = cache.get(key('keep'));
      loseHistory();
      await store.delete(key('gone'), cache.get(key('gone'))?.revision ?? 0);
      const changed = await store.update(
        key('change'),
        body('change', 'new'),
        cache.get(key('change'))?.revision ?? 0,
      );
      const added = await store.create(key('new'), body('new'));
      await clock.advance(5000);
      assert.deepEqual(
        cache.list('/registry/pods/').map((each) => [each.key, each.revision]),
        [
          [key('change'), changed],
          [key('keep'), kept?.revision],
          [key('new'), added],
        ],
      );
      assert.equal(cache.get(key('keep')), kept);
      assert.deepEqual([pods.expired, pods.events.length], [1, 0]);
      assert.equal(services.expired, 0);
      assert.throws(() => watch('/registry/', before), CompactedError);
      const service = await store.create('/registry/services/default/a', body('a'));
      await store.create(key('later'), body('later'));
      await clock.advance(10);
      assert.deepEqual(shape(services.events), [`ADDED a@${service}`]);
      assert.deepEqual([pods.expired, pods.events.length], [1, 0]);
    },
    {
      async seed(store) {
        for (const name of ['keep', 'gone', 'change']) await store.create(key(name), body(name));
      },
    },
  ));

for (const [what, lose] of [
  ['deleted', (store, at) => store.delete(key('known', 'theirs'), at)],
  ['changed', (store, at) => store.update(key('known', 'theirs'), body('known', 'new'), at)],
  ['added', (store) => store.create(key('new', 'theirs'), body('new'))],
] as const satisfies [string, (store: Store, at: number) => Promise<number>][]) {
  test(`if the only missed event is about an object that was ${what}, only its watchers expire`, () =>
    withCache(
      async ({ store, cache, clock, watch, loseHistory }) => {
        const theirs = watch('/registry/pods/theirs/');
        const all = watch('/registry/pods/');
        const others = watch('/registry/pods/default/');
        loseHistory();
        await lose(store, cache.get(key('known', 'theirs'))?.revision ?? 0);
        await store.create('/registry/services/default/a', body('a'));
        await clock.advance(5000);
        assert.deepEqual([theirs.expired, all.expired, others.expired], [1, 1, 0]);
      },
      {
        async seed(store) {
          await store.create(key('known', 'theirs'), body('known'));
          await store.create(key('known'), body('known'));
        },
      },
    ));
}

test('decoded objects are kept within their budget', () =>
  withCache(
    async ({ cache }) => {
      const list = cache.list('/registry/');
      const decoded = list.map((each) => each.object);
      const [first, last] = [list[0], list.at(-1)];
      assert.ok(first && last);
      assert.equal(last.object, decoded.at(-1));
      assert.notEqual(first.object, decoded[0]);
      assert.deepEqual(first.object, decoded[0]);
    },
    {
      decodedBytes: 1000,
      async seed(store) {
        for (let i = 0; i < 20; i++) await store.create(key(`p${i}`), body(`p${i}`));
      },
    },
  ));
