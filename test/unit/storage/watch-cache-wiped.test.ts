/** Cache on a store that lost its data, and whose revisions begin again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import type { Cache } from '../../../src/storage/cache.ts';
import { CompactedError, type Store } from '../../../src/storage/store.ts';
import { createWatchCache } from '../../../src/storage/watch-cache.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { body, key } from './cache-fixture.ts';

interface World {
  readonly cache: Cache;
  readonly clock: FakeClock;
  /** Replaces the database with another one. */
  wipe(next: Store): void;
}

async function withStore(first: Store, use: (world: World) => Promise<void>): Promise<void> {
  let [current, broken] = [first, new AbortController()];
  const store: Store = {
    ...first,
    list: (...args) => current.list(...args),
    currentRevision: () => current.currentRevision(),
    requestProgress: () => current.requestProgress(),
    async *watch(prefix, after, signal) {
      const cut = broken.signal;
      yield* current.watch(prefix, after, AbortSignal.any([signal, cut]));
      if (!signal.aborted) throw new CompactedError('another database answers', undefined);
    },
  };
  const clock = new FakeClock();
  const { cache, run, synced } = createWatchCache({ store, prefix: '/registry/', clock, log: silentLogger });
  const abort = new AbortController();
  const running = run(abort.signal);
  await synced;
  await use({
    cache,
    clock,
    wipe(next) {
      current = next;
      broken.abort();
      broken = new AbortController();
    },
  });
  abort.abort();
  await clock.settle();
  await running;
}

const noteOf = (cache: Cache, name: string) =>
  (cache.get(key(name))?.object as { spec?: { note?: string } } | undefined)?.spec?.note;

function watching(cache: Cache, prefix: string, after = cache.revision) {
  const seen = { revisions: [] as number[], expired: 0 };
  cache.watch(prefix, after, {
    onEvents: (events) => void seen.revisions.push(...events.map(({ revision }) => revision)),
    onExpired: () => void seen.expired++,
  });
  return seen;
}

test('after the store was wiped, every watch expires and the revisions of the new store are used', async () => {
  const old = createMemoryStore();
  let revision = await old.create(key('a'), body('a'));
  for (let i = 0; i < 20; i++) revision = await old.update(key('a'), body('a', String(i)), revision);
  await withStore(old, async ({ cache, clock, wipe }) => {
    const watches = [watching(cache, '/registry/pods/'), watching(cache, '/registry/services/')];
    const next = createMemoryStore();
    const created = await next.create(key('b'), body('b'));
    wipe(next);
    await clock.advance(5000);
    assert.deepEqual(
      watches.map(({ expired }) => expired),
      [1, 1],
    );
    assert.equal(cache.revision, created);
    assert.deepEqual(
      cache.list('/registry/').map((each) => each.key),
      [key('b')],
    );
    const again = watching(cache, '/registry/');
    const later = await next.create(key('c'), body('c'));
    let reached = false;
    const waited = cache.waitUntil(later).then(() => {
      reached = true;
    });
    assert.equal(reached, false);
    await clock.advance(10);
    await waited;
    assert.ok(cache.get(key('c')));
    assert.deepEqual(again.revisions, [later]);
  });
});

test('after the store was wiped an object with the old name and revision replaces the old one', async () => {
  const old = createMemoryStore();
  await old.create(key('a'), body('a', 'old'));
  await old.create(key('same'), body('same'));
  await withStore(old, async ({ cache, clock, wipe }) => {
    const watches = [watching(cache, '/registry/pods/'), watching(cache, '/registry/services/')];
    const next = createMemoryStore();
    await next.create(key('a'), body('a', 'new'));
    await next.create(key('same'), body('same'));
    wipe(next);
    await clock.advance(5000);
    assert.equal(noteOf(cache, 'a'), 'new');
    // The new database has the revision of the old one, so that no other watch has missed an event.
    assert.deepEqual(
      watches.map(({ expired }) => expired),
      [1, 0],
    );
  });
});
