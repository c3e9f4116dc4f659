import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { pause, systemClock } from '../../../src/base/clock.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const day = 24 * 3_600_000;
/** Maximum delay of a Node timer, in milliseconds. */
const longest = 2 ** 31 - 1;

/** Calls `fn` while the machine's timers stand still; `tick` moves them. */
function withTimers(fn: (tick: (ms: number) => void) => void): void {
  mock.timers.enable({ apis: ['setTimeout'] });
  const set = globalThis.setTimeout;
  // The real setTimeout also falls back to 1 ms for a delay above the maximum.
  const overflowing = ((run: () => void, ms = 1) => set(run, ms > longest ? 1 : ms)) as typeof setTimeout;
  globalThis.setTimeout = overflowing;
  try {
    fn((ms) => mock.timers.tick(ms));
  } finally {
    globalThis.setTimeout = set;
    mock.timers.reset();
  }
}

for (const ms of [longest, longest + 1, 40 * day, 400 * day])
  test(`a timer of ${ms} ms fires once, and not before that time has passed`, () =>
    withTimers((tick) => {
      let calls = 0;
      systemClock.after(ms, () => calls++);
      // Steps end where a timer does: mocked timers count from the end of a step.
      for (let left = ms - 1; left > 0; left -= longest) tick(Math.min(left, longest));
      assert.equal(calls, 0);
      tick(1);
      assert.equal(calls, 1);
      tick(day);
      assert.equal(calls, 1);
    }));

test('a timer of many days can be cancelled at any time', () =>
  withTimers((tick) => {
    let calls = 0;
    const timer = systemClock.after(60 * day, () => calls++);
    for (let passed = 0; passed < 59; passed++) tick(day);
    timer.cancel();
    for (let passed = 0; passed < 59; passed++) tick(day);
    assert.equal(calls, 0);
  }));

test('a timer of infinite duration does not fire', () =>
  withTimers((tick) => {
    let calls = 0;
    const timer = systemClock.after(Number.POSITIVE_INFINITY, () => calls++);
    for (let passed = 0; passed < 100; passed++) tick(day);
    assert.equal(calls, 0);
    timer.cancel();
  }));

for (const ms of [0, -5, Number.NaN])
  test(`a timer of ${ms} ms fires soon`, () =>
    withTimers((tick) => {
      let calls = 0;
      systemClock.after(ms, () => calls++);
      tick(1);
      assert.equal(calls, 1);
    }));

test('a pause ends after its time, or without an error when the signal aborts', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const ended: string[] = [];
  void pause(clock, 100, stop.signal).then(() => ended.push('short'));
  void pause(clock, 1000, stop.signal).then(() => ended.push('long'));
  await clock.advance(99);
  assert.deepEqual(ended, []);
  await clock.advance(1);
  assert.deepEqual(ended, ['short']);
  stop.abort(new Error('stopped'));
  await clock.settle();
  assert.deepEqual([ended, clock.pending], [['short', 'long'], 0]);
  await pause(clock, 1000, stop.signal);
});
