/** Delivery of events to watchers: which events, in which order, and when. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopMeter } from '../../../src/base/event-loop/loop-meter.ts';
import type { CacheEvent } from '../../../src/storage/cache.ts';
import { Watchers } from '../../../src/storage/watchers.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { key } from './cache-fixture.ts';

/** Event of which only the key and the revision matter here. */
const event = (revision: number, at = key(String(revision))) =>
  ({ type: 'ADDED', key: at, revision, frame: Buffer.alloc(0) }) as unknown as CacheEvent;
const revisions = (events: readonly CacheEvent[]) => events.map(({ revision }) => revision);

/** Calls of a watch, in order: the revisions of each call, and `expired`. */
type Told = (readonly number[] | 'expired')[];

function world() {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const watchers = new Watchers(clock, log, new LoopMeter({ clock, log }));
  const add = (prefix: string, after = 0, backlog: readonly CacheEvent[] = [], onEvents = () => {}) => {
    const told: Told = [];
    const stop = watchers.add(prefix, after, backlog, {
      onEvents(events) {
        told.push(revisions(events));
        onEvents();
      },
      onExpired: () => void told.push('expired'),
    });
    return { told, stop };
  };
  return { clock, log, watchers, add };
}

test('a watch gets each missed event once, before later events', async () => {
  const { watchers, add, clock } = world();
  const { told } = add('/registry/', 0, [event(1), event(2)]);
  watchers.publish([event(3)], 3);
  await clock.advance(10);
  assert.deepEqual(told, [[1, 2], [3]]);
});

test('a watch gets the events that it missed without any further event', async () => {
  const { add, clock } = world();
  const { told } = add('/registry/', 0, [event(1), event(2)]);
  await clock.settle();
  assert.deepEqual(told, [[1, 2]]);
});

test('a watch is not called without events for it', async () => {
  const { watchers, add, clock } = world();
  const { told } = add('/registry/', 5);
  watchers.publish([event(4), event(5)], 5);
  await clock.advance(10);
  assert.deepEqual(told, []);
  watchers.publish([event(6)], 6);
  assert.deepEqual(told, [[6]]);
});

test('a watch gets the events of its directory only', async () => {
  const { watchers, add, clock } = world();
  const all = add('/registry/');
  const directory = add('/registry/pods/default/');
  const keys = [key('a'), key('b'), key('a', 'other'), '/registry/pods/defaulta'];
  watchers.publish(
    keys.map((at, index) => event(index + 1, at)),
    4,
  );
  await clock.advance(10);
  assert.deepEqual(all.told, [[1, 2, 3, 4]]);
  assert.deepEqual(directory.told, [[1, 2]]);
  assert.throws(() => add('/registry/pods'), RangeError);
});

test('a watch that is ended twice does not end another one of the same prefix', () => {
  const { watchers, add } = world();
  const first = add('/registry/');
  first.stop();
  const second = add('/registry/');
  first.stop();
  watchers.publish([event(1)], 1);
  assert.deepEqual([first.told, second.told], [[], [[1]]]);
});

test('an expired watch gets the earlier events first, and none after', async () => {
  const { watchers, add, clock } = world();
  const watching = add('/registry/pods/');
  const other = add('/registry/nodes/');
  watchers.publish([event(1)], 1);
  // The event is held back for a moment after the last delivery; `joined` has had no delivery so far.
  watchers.publish([event(2)], 2);
  const joined = add('/registry/pods/default/', 1, [event(2)]);
  watchers.expire((prefix) => prefix.startsWith('/registry/pods/'));
  assert.deepEqual(watching.told, [[1], [2], 'expired']);
  assert.deepEqual(joined.told, [[2], 'expired']);
  watchers.publish([event(3)], 3);
  await clock.advance(10);
  assert.deepEqual(watching.told, [[1], [2], 'expired']);
  assert.deepEqual(joined.told, [[2], 'expired']);
  assert.deepEqual(other.told, []);
});

test('a watch that ends itself at its last event is not expired', () => {
  const { watchers, add } = world();
  const watching = add('/registry/', 0, [event(1)], () => watching.stop());
  watchers.expire(() => true);
  assert.deepEqual(watching.told, [[1]]);
});

test('a watch that fails is logged', () => {
  const { watchers, add, log } = world();
  add('/registry/', 0, [], () => {
    throw new Error('broken watcher');
  });
  watchers.publish([event(1)], 1);
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields]),
    [['error', { error: 'broken watcher' }]],
  );
});

test('watchers are served in turns, and each gets every event in order', async () => {
  const { watchers, add, clock } = world();
  // Each call takes three milliseconds.
  const slow = { ms: 3 };
  const all = Array.from({ length: 9 }, () => add('/registry/', 0, [], () => void clock.spend(slow.ms)));
  watchers.publish([event(1)], 1);
  const served = () => all.filter(({ told }) => told.length > 0).length;
  assert.equal(served(), 3);
  watchers.publish([event(2), event(3)], 3);
  const late = add('/registry/', 1, [event(2), event(3)]);
  assert.equal(served(), 3);
  slow.ms = 0;
  await clock.advance(10);
  for (const { told } of all) assert.deepEqual(told.flat(), [1, 2, 3]);
  assert.deepEqual(late.told, [[2, 3]]);
});

test('a watch with many queued events gets at most 64 at a time', async () => {
  const { add, clock } = world();
  const { told } = add(
    '/registry/',
    0,
    Array.from({ length: 150 }, (_, index) => event(index + 1)),
  );
  await clock.settle();
  assert.deepEqual(
    told.map((each) => each.length),
    [64, 64, 22],
  );
  assert.deepEqual(
    told.flat(),
    Array.from({ length: 150 }, (_, index) => index + 1),
  );
});

test('handedOver returns the revision of the last delivered event, not of queued ones', async () => {
  const { watchers, add, clock } = world();
  const slow = { ms: 10 };
  add('/registry/', 0, [], () => void clock.spend(slow.ms));
  const second = add('/registry/');
  const elsewhere = add('/registry/nodes/', 2);
  watchers.publish([event(1)], 1);
  watchers.publish([event(2), event(3)], 3);
  assert.deepEqual([second.stop.handedOver(), elsewhere.stop.handedOver()], [0, 3]);
  slow.ms = 0;
  await clock.advance(10);
  assert.equal(second.stop.handedOver(), 3);
});

test('a watch with too many queued events expires', async () => {
  const { watchers, add, clock, log } = world();
  const behind = add('/registry/', 0, [event(1)]);
  watchers.publish(
    Array.from({ length: 20_001 }, (_, index) => event(index + 2)),
    20_002,
  );
  await clock.advance(10);
  assert.deepEqual(behind.told.slice(0, 2), ['expired']);
  assert.equal(log.lines[0]?.level, 'warn');
});

test('a watch whose events block the event loop is logged with its prefix', async () => {
  const { watchers, add, clock, log } = world();
  add('/registry/pods/');
  add('/registry/', 0, [], () => void clock.spend(150));
  watchers.publish([event(1, '/registry/pods/a/b'), event(2, '/registry/pods/a/c')], 2);
  await clock.settle();
  assert.deepEqual(
    log.lines.map(({ fields }) => fields),
    [
      {
        ...{ ms: 150, kind: 'watch', workMs: 150 },
        ...{ prefix: '/registry/', key: '/registry/pods/a/c', eventCount: 2 },
      },
    ],
  );
});
