/** Readers that wait for one event of a cache. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { body, key, withCache } from './cache-fixture.ts';

const readers = 5000;
/** Milliseconds for which each reader works. */
const workMs = 2;
/** Maximum number of readers of one turn: five take its ten milliseconds, and a few more may have begun. */
const maxOfOneTurn = 10;

test('five thousand readers that wait for one event resume in many turns of the event loop, in their order', () =>
  withCache(async ({ store, cache, clock }) => {
    const wanted = (await store.currentRevision()) + 1;
    const order: number[] = [];
    let [now, most] = [0, 0];
    const waiting = Array.from({ length: readers }, async (_, at) => {
      await cache.waitUntil(wanted);
      clock.spend(workMs);
      order.push(at);
      most = Math.max(most, ++now);
    });
    let isOver = false;
    const turn = () => {
      now = 0;
      if (!isOver) setImmediate(turn);
    };
    turn();
    await store.create(key('a'), body('a'));
    await Promise.all(waiting);
    isOver = true;
    assert.ok(most <= maxOfOneTurn, `${most} readers resumed in one turn`);
    assert.deepEqual(
      order,
      waiting.map((_, at) => at),
    );
    await clock.settle();
    assert.equal(clock.pending, 0, 'progress is no longer requested');
  }));

test('a reader that aborts before its turn is rejected with its reason, and the other readers continue', () =>
  withCache(async ({ store, cache }) => {
    const wanted = (await store.currentRevision()) + 1;
    const leaving = new AbortController();
    const others = Array.from({ length: 100 }, () => cache.waitUntil(wanted));
    const last = assert.rejects(cache.waitUntil(wanted, leaving.signal), /left/);
    void others[0]?.then(() => leaving.abort(new Error('left')));
    await store.create(key('a'), body('a'));
    await Promise.all(others);
    await last;
  }));
