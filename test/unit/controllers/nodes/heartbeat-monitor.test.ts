import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeartbeatMonitor } from '../../../../src/controllers/nodes/heartbeat-monitor.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const tickMs = 5_000;
const limit = () => 40_000;

/** Clock of a process that can be stopped: time passes, and timers that were due meanwhile run later. */
class StoppableClock extends FakeClock {
  #skipped = 0;

  override now(): number {
    return super.now() + this.#skipped;
  }

  stopFor(ms: number): void {
    this.#skipped += ms;
  }
}

function setUp(look: () => Promise<unknown> = async () => undefined) {
  const clock = new StoppableClock();
  const stop = new AbortController();
  let looks = 0;
  const counted = () => {
    looks++;
    return look();
  };
  const heartbeats = new HeartbeatMonitor({ clock, tickMs, probeStore: counted });
  heartbeats.follow(stop.signal);
  return { clock, heartbeats, stop, looks: () => looks };
}

describe('the silence of a node', () => {
  it('counts from the last heartbeat', async () => {
    const { clock, heartbeats } = setUp();
    await clock.advance(60_000);
    const heard = clock.now();
    heartbeats.record(limit);
    await clock.advance(12_000);
    assert.equal(heartbeats.silenceSince(heard), 12_000);
    assert.equal(heartbeats.quietFor(), 12_000);
  });

  it('counts from the start for a node whose last heartbeat is older', async () => {
    const { clock, heartbeats } = setUp();
    await clock.advance(7_000);
    assert.equal(heartbeats.silenceSince(clock.now() - 3_600_000), 7_000);
  });

  it('restarts when this process was stopped, also if it is queried before the next tick', async () => {
    const { clock, heartbeats } = setUp();
    const heard = clock.now();
    await clock.advance(21_000);
    assert.equal(heartbeats.silenceSince(heard), 21_000);
    clock.stopFor(300_000);
    assert.equal(heartbeats.silenceSince(heard), 0);
    await clock.advance(8_000);
    assert.equal(heartbeats.silenceSince(heard), 8_000);
  });

  it('is not cut short by a delay that is shorter than a tick', async () => {
    const { clock, heartbeats } = setUp();
    const heard = clock.now();
    await clock.advance(20_000);
    clock.stopFor(4_000);
    await clock.advance(10_000);
    assert.equal(heartbeats.silenceSince(heard), 34_000);
  });

  it('restarts when the clock is set back', async () => {
    const { clock, heartbeats } = setUp();
    await clock.advance(20_000);
    const heard = clock.now();
    heartbeats.record(limit);
    clock.stopFor(-3_600_000);
    assert.equal(heartbeats.silenceSince(heard), 0);
    await clock.advance(9_000);
    assert.equal(heartbeats.silenceSince(heard), 9_000);
  });

  it('restarts for all nodes at the first heartbeat after a long time without any', async () => {
    const { clock, heartbeats } = setUp();
    heartbeats.record(limit);
    await clock.advance(50_000);
    assert.equal(heartbeats.silenceSince(0), 50_000);
    heartbeats.record(limit);
    assert.equal(heartbeats.silenceSince(0), 0);
    await clock.advance(39_000);
    heartbeats.record(limit);
    assert.equal(heartbeats.silenceSince(0), 39_000, 'a short silence of all changes nothing');
  });

  it('does not exist for a node whose heartbeat has just arrived', async () => {
    const { clock, heartbeats } = setUp();
    await clock.advance(7_000);
    assert.equal(heartbeats.silenceSince(clock.now()), 0);
    assert.equal(heartbeats.silenceSince(clock.now() + 1), 7_000, 'a heartbeat in the future is ignored');
  });

  it('is that of all nodes together from the start until the first heartbeat', async () => {
    const { clock, heartbeats } = setUp();
    await clock.advance(7_000);
    assert.equal(heartbeats.quietFor(), 7_000);
    heartbeats.record(limit);
    await clock.advance(2_000);
    assert.equal(heartbeats.quietFor(), 2_000);
  });

  it('is not cut short by a heartbeat after just the limit', async () => {
    const { clock, heartbeats } = setUp();
    heartbeats.record(limit);
    await clock.advance(limit());
    heartbeats.record(limit);
    assert.equal(heartbeats.silenceSince(0), limit());
  });

  it('is not cut short by a delay, or by a clock set back, of just one tick', async () => {
    for (const [skipped, expected] of [
      [2 * tickMs, 30_000],
      [-tickMs, 15_000],
      [2 * tickMs + 1, 0],
      [-tickMs - 1, 0],
    ] as const) {
      const { clock, heartbeats } = setUp();
      await clock.advance(20_000);
      clock.stopFor(skipped);
      assert.equal(heartbeats.silenceSince(0), expected, `${skipped} ms`);
    }
  });

  it('restarts if this process was stopped and was not queried before the next tick', async () => {
    const { clock, heartbeats } = setUp();
    await clock.advance(21_000);
    clock.stopFor(300_000);
    await clock.advance(4_000);
    assert.equal(heartbeats.silenceSince(0), 0);
  });

  it('continues when the same leadership is followed again, or a former one ends', async () => {
    const { clock, heartbeats, stop } = setUp();
    await clock.advance(10_000);
    heartbeats.follow(stop.signal);
    assert.equal(heartbeats.silenceSince(0), 10_000);
    heartbeats.follow(new AbortController().signal);
    assert.equal(clock.pending, 1, 'only one ticks');
    stop.abort();
    assert.equal(clock.pending, 1, 'the one that is followed');
    await clock.advance(30_000);
    assert.equal(heartbeats.silenceSince(0), 30_000);
  });

  it('restarts when this process becomes the leader again', async () => {
    const { clock, heartbeats, stop } = setUp();
    await clock.advance(30_000);
    stop.abort();
    assert.equal(clock.pending, 0, 'nothing ticks for a process that does not lead');
    await clock.advance(30_000);
    heartbeats.follow(new AbortController().signal);
    assert.equal(heartbeats.silenceSince(0), 0);
  });
});

describe('the store', () => {
  it('is not probed while heartbeats arrive', async () => {
    const { clock, heartbeats, looks } = setUp();
    for (let beat = 0; beat < 20; beat++) {
      heartbeats.record(limit);
      await clock.advance(4_000);
    }
    assert.equal(looks(), 0);
  });

  it('makes no node silent while it does not answer, until it has answered again for a whole grace period', async () => {
    let answers = true;
    const { clock, heartbeats } = setUp(() =>
      answers ? Promise.resolve() : Promise.reject(new Error('away')),
    );
    await clock.advance(20_000);
    answers = false;
    await clock.advance(600_000);
    assert.equal(heartbeats.silenceSince(0), 0);
    answers = true;
    await clock.advance(5_000);
    assert.equal(heartbeats.silenceSince(0), 0);
    await clock.advance(35_000);
    assert.equal(heartbeats.silenceSince(0), 35_000);
  });

  it('is probed at the first tick without a heartbeat, and again after the nodes that had one', async () => {
    const { clock, heartbeats, looks } = setUp();
    await clock.advance(tickMs);
    assert.equal(looks(), 1);
    heartbeats.record(limit);
    await clock.advance(tickMs);
    assert.equal(looks(), 1);
    await clock.advance(tickMs);
    assert.equal(looks(), 2);
  });

  it('stays lost if it does not answer after this process was stopped for a while', async () => {
    const { clock, heartbeats } = setUp(() => Promise.reject(new Error('away')));
    await clock.advance(60_000);
    clock.stopFor(300_000);
    assert.equal(heartbeats.silenceSince(0), 0);
    await clock.advance(1_000);
    assert.equal(heartbeats.silenceSince(0), 0);
  });

  it('is reachable when a heartbeat has arrived', async () => {
    const { clock, heartbeats } = setUp(() => Promise.reject(new Error('away')));
    await clock.advance(60_000);
    heartbeats.record(limit);
    await clock.advance(3_000);
    assert.equal(heartbeats.silenceSince(0), 3_000);
  });

  it('counts as lost if it does not finish a request', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { clock, heartbeats, looks } = setUp(() => promise);
    await clock.advance(60_000);
    assert.equal(heartbeats.silenceSince(0), 0);
    assert.equal(looks(), 1, 'it is not asked again before it answers');
    resolve();
    await clock.settle();
    await clock.advance(3_000);
    assert.equal(heartbeats.silenceSince(0), 3_000);
  });
});
