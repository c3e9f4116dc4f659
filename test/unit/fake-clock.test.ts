import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextTurn, sleep } from '../../src/base/clock.ts';
import { eventually } from '../fixtures/eventually.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

describe('the clock of tests', () => {
  it('runs immediate work without a move, in order, and before time passes', async () => {
    const clock = new FakeClock();
    const seen: string[] = [];
    clock.after(0, () => seen.push('timer'));
    const deep = async (name: string, turns: number) => {
      for (let turn = 0; turn < turns; turn++) await nextTurn(clock);
      seen.push(name);
    };
    const both = [deep('long', 20), deep('short', 2)];
    await Promise.all(both);
    assert.deepEqual(seen, ['short', 'long']);
    await clock.advance(0);
    assert.deepEqual(seen, ['short', 'long', 'timer']);
  });

  it('is idle only when no immediate work is left', async () => {
    const clock = new FakeClock();
    let turns = 0;
    const go = () => {
      if (++turns < 50) clock.soon(go);
    };
    clock.soon(go);
    await clock.settle();
    assert.equal(turns, 50);
  });

  it('waits for a promise from timer to timer, and stops there', async () => {
    const clock = new FakeClock(0);
    clock.after(10_000, () => assert.fail('nobody waits for this'));
    const slow = sleep(clock, 400).then(() => sleep(clock, 600));
    await clock.until(slow);
    assert.equal(clock.now(), 1000);
    assert.equal(clock.monotonic(), 1000);
    await assert.rejects(clock.until(Promise.reject(new Error('of the work'))), /of the work/);
  });

  it('reports that a promise is not settled by timers, or not in time', async () => {
    const clock = new FakeClock();
    const never = new Promise<void>(() => undefined);
    await assert.rejects(clock.until(never), /no timer is set/);
    const again = () => void clock.after(100, again);
    again();
    const before = clock.now();
    await assert.rejects(clock.until(never, 1000), /did not settle within 1000 ms/);
    assert.equal(clock.now() - before, 1000);
  });

  it('delivers results of other threads in the order of the requests, when no other work is pending', async () => {
    const clock = new FakeClock();
    const seen: string[] = [];
    const [slow, fast] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    const work = [slow, fast].map(({ promise }) => clock.elsewhere(promise).then((name) => seen.push(name)));
    clock.soon(() => clock.soon(() => seen.push('here')));
    clock.after(0, () => seen.push('timer'));
    fast.resolve('fast');
    setTimeout(() => slow.resolve('slow'), 20);
    await clock.advance(0);
    await Promise.all(work);
    assert.deepEqual(seen, ['here', 'slow', 'fast', 'timer']);
  });

  it('delivers a failure of another thread', async () => {
    const clock = new FakeClock();
    await assert.rejects(clock.elsewhere(Promise.reject(new Error('no key'))), /no key/);
    await clock.settle();
  });
});

describe('eventually', () => {
  it('steps from timer to timer until the probe succeeds', async () => {
    const clock = new FakeClock(0);
    let count = 0;
    const tick = () => {
      count++;
      clock.after(1000, tick);
    };
    clock.after(1000, tick);
    assert.equal(await eventually(clock, 'three', () => count === 3 && clock.now()), 3000);
  });

  it('fails after its timeout by the clock, or when no timer is left', async () => {
    const clock = new FakeClock(0);
    await assert.rejects(
      eventually(clock, 'this', () => false),
      /cannot happen any more, for no timer is set: this/,
    );
    const again = () => void clock.after(700, again);
    again();
    await assert.rejects(
      eventually(clock, 'that', () => false, 2000),
      /did not happen within 2000 ms: that/,
    );
    assert.equal(clock.now(), 1400);
  });

  it('lets time pass while the probe itself waits', async () => {
    const clock = new FakeClock(0);
    const at = await eventually(clock, 'slow', async () => {
      await sleep(clock, 50);
      return clock.now();
    });
    assert.equal(at, 50);
  });
});
