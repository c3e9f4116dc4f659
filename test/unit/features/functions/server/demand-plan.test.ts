import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import { demandOf } from '../../../../../src/features/functions/server/demand-plan.ts';
import { LoadMeter } from '../../../../../src/features/functions/server/load-meter.ts';

const spec = (over: Partial<Fn['spec']> = {}) =>
  ({
    concurrency: 10,
    target: 7,
    maxScale: 100,
    windowSeconds: 30,
    idleSeconds: 60,
    metric: 'Concurrency',
    ...over,
  }) as Fn['spec'];

const begun = (count: number, now: number, meter = new LoadMeter(30_000, now)) => {
  for (let i = 0; i < count; i++) meter.begin(now);
  return meter;
};
const ended = (count: number, now: number, meter: LoadMeter) => {
  for (let i = 0; i < count; i++) meter.end(now);
  return meter;
};

describe('LoadMeter', () => {
  it('has the average number of calls in progress', () => {
    const meter = begun(4, 0);
    ended(2, 1000, meter);
    assert.equal(meter.average(2000, 2000), 3);
  });
  it('drops steps that are older than its window', () => {
    const meter = ended(6, 1000, begun(6, 0));
    assert.equal(meter.begun(29_900), 6);
    assert.equal(meter.begun(32_000), 0);
    assert.equal(meter.average(3000, 60_000), 0);
  });
  it('is idle since the last call ended', () => {
    const meter = begun(1, 0);
    assert.equal(meter.idleFor(5000), 0);
    assert.equal(ended(1, 6000, meter).idleFor(7500), 1500);
  });
  it('stores at most the steps of one window', () => {
    const meter = new LoadMeter(30_000, 0);
    for (let at = 0; at < 10_000_000; at += 10_000) ended(1, at + 5, begun(1, at, meter));
    assert.equal(meter.begun(10_000_000 - 1), 3);
  });
});

describe('demandOf', () => {
  const instances = (of: Fn['spec'], meter: LoadMeter, now: number) => demandOf(of, meter, now).instances;

  it('is one for the first call', () => assert.equal(instances(spec(), begun(1, 0), 0), 1));
  it('has room for all calls in progress at once', () => assert.equal(instances(spec(), begun(50, 0), 0), 5));
  it('is at most maxScale', () => assert.equal(instances(spec({ maxScale: 3 }), begun(50, 0), 0), 3));
  it('approaches the target when the load stays', () =>
    assert.equal(instances(spec(), begun(50, 0), 10_000), Math.ceil(50 / 7)));
  it('reacts to a rise within a tenth of the window', () => {
    const load = ended(12, 1000, begun(12, 0));
    assert.equal(instances(spec({ target: 1 }), load, 1000), 4, '12 for 1 s of 3 s');
  });
  it('is held for a window after the load has ended', () => {
    const meter = begun(50, 0);
    assert.equal(instances(spec(), meter, 0), 5);
    ended(50, 100, meter);
    assert.equal(instances(spec(), meter, 29_000), 5);
    assert.equal(instances(spec(), meter, 31_000), 1);
  });
  it('is 0 after the idle time, and not before', () => {
    const meter = ended(1, 100, begun(1, 0));
    assert.deepEqual(demandOf(spec(), meter, 60_099), { instances: 1, again: 1 });
    assert.deepEqual(demandOf(spec(), meter, 60_100), { instances: 0, again: undefined });
  });
  it('is computed every second while there are calls', () =>
    assert.equal(demandOf(spec(), begun(1, 0), 0).again, 1000));

  it('detects a rise within a second if a tenth of the window is less', () => {
    const meter = begun(10, 0, new LoadMeter(5000, 0));
    ended(1, 6, meter);
    ended(9, 555, meter);
    // The demand is 5,001 ms of calls in 1,000 ms.
    assert.equal(instances(spec({ target: 1, windowSeconds: 5 }), meter, 1000), 6);
  });
  it('reacts to a rise of any size within a tenth of the window', () => {
    const meter = ended(1, 1, begun(2, 0));
    assert.equal(instances(spec({ target: 1 }), meter, 3000), 2, '3,001 ms of calls in 3,000 ms');
  });
  it('has a default window of 30 s, one call for each instance, and an idle time of 60 s', () => {
    const { windowSeconds: _, idleSeconds: __, target: ___, ...bare } = spec();
    const of = bare as Fn['spec'];
    assert.equal(instances(of, ended(1, 1, begun(2, 0)), 3000), 2);
    const idle = ended(1, 0, begun(1, 0));
    assert.deepEqual([instances(of, idle, 59_999), instances(of, idle, 60_000)], [1, 0]);
  });
  it('is computed again after a second, or when the function is idle', () => {
    const meter = ended(1, 100, begun(1, 0));
    const again = (now: number) => demandOf(spec(), meter, now).again;
    assert.deepEqual([again(100), again(101), again(59_100), again(59_101)], [1000, 1000, 1000, 999]);
  });

  describe('demand by requests', () => {
    const byRequests = spec({ metric: 'Requests', target: 5 });
    it('depends on the number of requests in the window', () => {
      const meter = ended(12, 10, begun(12, 0));
      assert.equal(instances(byRequests, meter, 10), 3);
      assert.equal(instances(byRequests, meter, 29_000), 3);
      assert.equal(instances(byRequests, meter, 31_000), 1);
    });
    it('also has room for all calls in progress', () =>
      assert.equal(instances(spec({ metric: 'Requests', target: 1000 }), begun(30, 0), 0), 3));
  });
});
