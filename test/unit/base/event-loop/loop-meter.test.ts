import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Timer } from '../../../../src/base/clock.ts';
import { LoopMeter } from '../../../../src/base/event-loop/loop-meter.ts';
import type { Work } from '../../../../src/base/event-loop/work.ts';
import { exposition } from '../../../../src/base/metrics/exposition.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';

/** Creates an event loop that turns when the test calls for it. */
function world() {
  let now = 0;
  let soon: (() => void)[] = [];
  const timers = new Map<number, { at: number; fn: () => void }>();
  let order = 0;
  const clock = {
    now: () => now,
    monotonic: () => now,
    soon: (fn: () => void) => void soon.push(fn),
    after(ms: number, fn: () => void): Timer {
      const id = order++;
      timers.set(id, { at: now + ms, fn });
      return { cancel: () => void timers.delete(id) };
    },
  };
  const log = new RecordingLogger();
  const meter = new LoopMeter({ clock, log });
  return {
    meter,
    log,
    timers,
    /** Advances the time without a turn of the loop. */
    hold(ms: number) {
      now += ms;
    },
    /** Runs the timers that are due, then the immediate callbacks. */
    turn() {
      for (const [id, { at, fn }] of [...timers]) {
        if (at > now) continue;
        timers.delete(id);
        fn();
      }
      const due = soon;
      soon = [];
      for (const fn of due) fn();
    },
    page: () => exposition(meter.families()),
  };
}

const work = (name: string, kind = 'request'): Work => ({ kind, describe: () => ({ name }) });

test('a turn of more than 100 ms is logged once, with the marked work that took most of it', () => {
  const { meter, log, hold, turn, page } = world();
  meter.mark(work('short'));
  hold(20);
  meter.mark(work('long'));
  hold(90);
  meter.mark(work('last', 'controller'));
  hold(10);
  turn();
  turn();
  assert.deepEqual(log.lines, [
    {
      level: 'warn',
      message: 'the event loop was held',
      fields: { ms: 120, kind: 'request', workMs: 90, name: 'long' },
    },
  ]);
  assert.match(page(), /minik8s_event_loop_held_seconds_bucket\{kind="request",le="0.15"\} 1\n/);
  assert.match(page(), /minik8s_event_loop_held_seconds_sum\{kind="request"\} 0.12\n/);
});

test('turns of 100 ms are not reported, even if many of them follow one another', () => {
  const { meter, log, hold, turn, page } = world();
  for (let count = 0; count < 20; count++) {
    meter.mark(work('one'));
    hold(100);
    turn();
  }
  assert.deepEqual(log.lines, []);
  assert.doesNotMatch(page(), /kind=/);
});

test('a block by unmarked work is reported with the requests in progress, and without requests that have ended', () => {
  const { meter, log, hold, turn } = world();
  meter.watch(new AbortController().signal);
  const ends = ['a', 'b', 'c', 'd'].map((name) => meter.begin(work(name)));
  turn();
  hold(200);
  turn();
  for (const end of ends) end();
  hold(200);
  turn();
  const [first, second, ...more] = log.lines.map(({ fields }) => fields);
  assert.deepEqual(first, {
    ...{ ms: 150, kind: 'other', underWayCount: 4 },
    underWay: '[{"name":"b"},{"name":"c"},{"name":"d"}]',
  });
  assert.deepEqual(second, { ms: 150, kind: 'other' });
  assert.deepEqual(more, []);
});

test('a block by marked work is not reported again by the timer', () => {
  const { meter, log, hold, turn } = world();
  meter.watch(new AbortController().signal);
  hold(10);
  meter.mark(work('one'));
  hold(300);
  turn();
  turn();
  assert.deepEqual(
    log.lines.map(({ fields }) => fields),
    [{ ms: 300, kind: 'request', workMs: 300, name: 'one' }],
  );
});

test('at most ten lines a minute are logged, and the next line contains the number of omitted blocks', () => {
  const { meter, log, hold, turn, page } = world();
  const held = () => {
    meter.mark(work('one'));
    hold(200);
    turn();
  };
  for (let count = 0; count < 15; count++) held();
  assert.equal(log.lines.length, 10);
  assert.match(page(), /_count\{kind="request"\} 15\n/);
  hold(60_000);
  held();
  held();
  assert.deepEqual(
    log.lines.slice(10).map(({ fields }) => fields.unlogged),
    [5, undefined],
  );
});

test('the timer runs only while work is marked or under way', () => {
  const { meter, log, timers, hold, turn } = world();
  meter.watch(new AbortController().signal);
  assert.equal(timers.size, 0, 'a process at rest is woken');
  const end = meter.begin(work('long'));
  for (let looks = 0; looks < 5; looks++) {
    assert.equal(timers.size, 1);
    hold(50);
    turn();
  }
  end();
  hold(50);
  turn();
  assert.equal(timers.size, 0);
  meter.mark(work('short', 'controller'));
  assert.equal(timers.size, 1);
  // Unmarked work directly afterwards.
  turn();
  hold(200);
  turn();
  assert.deepEqual(
    log.lines.map(({ fields }) => fields),
    [{ ms: 150, kind: 'other' }],
  );
  hold(50);
  turn();
  assert.equal(timers.size, 0);
});

test('the timer ends with the signal', () => {
  const { meter, timers } = world();
  const stop = new AbortController();
  meter.watch(stop.signal);
  meter.mark(work('one'));
  assert.equal(timers.size, 1);
  stop.abort();
  assert.equal(timers.size, 0);
  meter.mark(work('two'));
  meter.watch(stop.signal);
  meter.mark(work('three'));
  assert.equal(timers.size, 0);
});
