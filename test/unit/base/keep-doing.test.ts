import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { Backoff } from '../../../src/base/backoff.ts';
import { sleep } from '../../../src/base/clock.ts';
import { type Failure, keepDoing, retry, Wake } from '../../../src/base/keep-doing.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

function world() {
  const clock = new FakeClock(0);
  const stop = new AbortController();
  /** Times at which turns began. */
  const turns: number[] = [];
  const failures: Failure[] = [];
  return {
    clock,
    stop,
    turns,
    failures,
    given: {
      clock,
      signal: stop.signal,
      onError: (_: unknown, failure: Failure) => void failures.push(failure),
    },
    turn: async () => void turns.push(clock.now()),
  };
}

const backoff = () => new Backoff({ initialMs: 100, maxMs: 400 });

describe('keepDoing', () => {
  it('begins at once, and pauses between the end of a turn and the next turn', async () => {
    const { clock, stop, turns, given } = world();
    const over = keepDoing({ ...given, restMs: 1000 }, async () => {
      turns.push(clock.now());
      await sleep(clock, 50);
    });
    await clock.advance(2200);
    assert.deepEqual(turns, [0, 1050, 2100]);
    stop.abort();
    await over;
    assert.equal(clock.pending, 0);
  });

  it('does not begin after the signal has aborted', async () => {
    const { stop, turns, given, turn } = world();
    stop.abort();
    await keepDoing({ ...given, restMs: 1000 }, turn);
    assert.deepEqual(turns, []);
  });

  it('pauses before the first turn if requested, until the wake is called or the signal aborts', async () => {
    const { clock, stop, turns, given, turn } = world();
    const wake = new Wake();
    const over = keepDoing({ ...given, wake, restMs: 1000, restsFirst: true }, turn);
    await clock.advance(999);
    assert.deepEqual(turns, []);
    await clock.advance(1001);
    assert.deepEqual(turns, [1000, 2000]);
    const woken = keepDoing({ ...given, wake: new Wake(), restMs: 5000, restsFirst: true }, turn);
    wake.call();
    await clock.advance(10);
    assert.deepEqual(turns, [1000, 2000, 2000]);
    stop.abort();
    await Promise.all([over, woken]);
    await keepDoing({ ...given, restMs: 1000, restsFirst: true }, turn);
    assert.deepEqual([turns.length, clock.pending], [3, 0]);
  });

  it('rests for the time that the turn returns, or that the function returns after the turn', async () => {
    const { clock, stop, turns, given } = world();
    const over = keepDoing({ ...given, restMs: () => turns.length * 1000 }, async () => {
      turns.push(clock.now());
      return turns.length === 2 ? 7 : undefined;
    });
    await clock.advance(4100);
    assert.deepEqual(turns, [0, 1000, 1007, 4007]);
    stop.abort();
    await over;
  });

  it('lets the event loop turn between turns without a rest', async () => {
    const { clock, stop, turns, given } = world();
    let hasTurned = false;
    setImmediate(() => {
      hasTurned = true;
    });
    await keepDoing({ ...given, restMs: 0 }, async () => {
      turns.push(clock.now());
      if (hasTurned) stop.abort();
    });
    assert.ok(turns.length > 1);
  });

  it('rests without end until the wake is called, also with a call during the turn', async () => {
    const { clock, stop, turns, given } = world();
    const wake = new Wake();
    wake.call();
    const over = keepDoing({ ...given, wake }, async () => {
      turns.push(clock.now());
      if (turns.length === 2) wake.call();
    });
    await clock.advance(5000);
    assert.deepEqual([turns, clock.pending], [[0], 0]);
    wake.call();
    await clock.advance(5000);
    assert.deepEqual(turns, [0, 5000, 5000]);
    stop.abort();
    await over;
  });

  it('removes the timer and the listener of a rest that the wake ends', async () => {
    const { clock, stop, given, turn } = world();
    const wake = new Wake();
    const over = keepDoing({ ...given, wake, restMs: 1000 }, turn);
    await clock.settle();
    wake.call();
    await clock.settle();
    assert.equal(clock.pending, 1);
    assert.equal(getEventListeners(stop.signal, 'abort').length, 1);
    stop.abort();
    await over;
  });

  it('combines the calls within the settling time into one turn', async () => {
    const { clock, stop, turns, given, turn } = world();
    const wake = new Wake();
    const over = keepDoing({ ...given, wake, settleMs: () => 30 }, turn);
    await clock.advance(1000);
    wake.call();
    await clock.advance(20);
    wake.call();
    await clock.advance(1000);
    assert.deepEqual(turns, [0, 1030]);
    stop.abort();
    await over;
  });

  it('delays the turns after failures more and more, and resets that with a success', async () => {
    const { clock, stop, turns, failures, given } = world();
    const over = keepDoing({ ...given, restMs: 1000, backoff: backoff() }, async () => {
      turns.push(clock.now());
      if (turns.length !== 4) throw new Error('no');
    });
    await clock.advance(1900);
    assert.deepEqual(turns, [0, 100, 300, 700, 1700, 1800]);
    assert.deepEqual(
      failures.map(({ retryMs }) => retryMs),
      [100, 200, 400, 100, 200],
    );
    stop.abort();
    await over;
  });

  it('uses a backoff that its caller keeps', async () => {
    const { clock, stop, turns, given } = world();
    const over = keepDoing({ ...given, restMs: 0, backoff: backoff(), keepsBackoff: true }, async () => {
      turns.push(clock.now());
      if (turns.length !== 2) throw new Error('no');
    });
    await clock.advance(350);
    assert.deepEqual(turns, [0, 100, 100, 300]);
    stop.abort();
    await over;
  });

  it('rests as usual after a failure without a backoff', async () => {
    const { clock, stop, turns, given } = world();
    const over = keepDoing({ ...given, restMs: 1000 }, async () => {
      turns.push(clock.now());
      throw new Error('no');
    });
    await clock.advance(1000);
    assert.deepEqual(turns, [0, 1000]);
    stop.abort();
    await over;
  });

  for (const [wakesRetry, times] of [
    [false, [0, 100]],
    [true, [0, 40]],
  ] as const)
    it(`the wake ${wakesRetry ? 'ends' : 'does not end'} the delay after a failure with ${wakesRetry}`, async () => {
      const { clock, stop, turns, given } = world();
      const wake = new Wake();
      const over = keepDoing({ ...given, wake, wakesRetry, backoff: backoff() }, async () => {
        turns.push(clock.now());
        if (turns.length === 1) throw new Error('no');
      });
      await clock.advance(40);
      wake.call();
      await clock.advance(500);
      assert.deepEqual(turns, times);
      stop.abort();
      await over;
    });

  it('reports whether a failure has another message than the one before', async () => {
    const { clock, stop, turns, failures, given } = world();
    const messages = ['one', 'one', 'two', '', 'two'];
    const over = keepDoing({ ...given, restMs: 10 }, async () => {
      const message = messages[turns.length];
      turns.push(clock.now());
      if (message) throw new Error(message);
    });
    await clock.advance(45);
    assert.deepEqual(
      failures.map(({ isNew }) => isNew),
      [true, false, true, true],
    );
    stop.abort();
    await over;
  });

  it('ends with the error of a turn without a handler, and with the error of onError', async () => {
    const { clock, given } = world();
    const act = () => Promise.reject(new Error('broken'));
    await assert.rejects(keepDoing({ clock, signal: given.signal, restMs: 10 }, act), /broken/);
    const onError = () => {
      throw new Error('final');
    };
    await assert.rejects(keepDoing({ ...given, onError, restMs: 10 }, act), /final/);
  });

  it('waits for the running turn when the signal aborts, and ignores its error', async () => {
    const { clock, stop, failures, given } = world();
    let isOver = false;
    const over = keepDoing({ ...given, restMs: 1000 }, async () => {
      await sleep(clock, 100);
      throw new Error('stopped');
    }).then(() => {
      isOver = true;
    });
    await clock.advance(50);
    stop.abort();
    await clock.settle();
    assert.equal(isOver, false);
    await clock.advance(50);
    await over;
    assert.deepEqual(failures, []);
    assert.equal(clock.pending, 0);
  });

  it('waits for nothing after a turn in which the signal aborted', async () => {
    const { stop, given } = world();
    const settleMs = () => assert.fail('settles');
    await keepDoing({ ...given, restMs: 0, settleMs }, async () => stop.abort());
  });

  it('ends at once when the signal aborts during a rest, a delay or the time to settle', async () => {
    for (const options of [{ restMs: 1000 }, { backoff: backoff() }, { restMs: 1, settleMs: 1000 }]) {
      const { clock, stop, turns, given } = world();
      const over = keepDoing({ ...given, ...options }, async () => {
        turns.push(clock.now());
        if ('backoff' in options) throw new Error('no');
      });
      await clock.advance(50);
      stop.abort();
      await over;
      assert.deepEqual([turns, clock.now(), clock.pending], [[0], 50, 0]);
    }
  });
});

describe('retry', () => {
  it('returns the first result, after a growing delay for each failure', async () => {
    const { clock, stop, turns } = world();
    const delays: number[] = [];
    const options = {
      clock,
      signal: stop.signal,
      backoff: backoff(),
      onError: (_: unknown, retryMs: number) => void delays.push(retryMs),
    };
    const result = retry(options, async () => {
      turns.push(clock.now());
      if (turns.length < 3) throw new Error('no');
      return 'done';
    });
    assert.equal(await clock.until(result), 'done');
    assert.deepEqual(turns, [0, 100, 300]);
    assert.deepEqual(delays, [100, 200]);
  });

  it('begins the delay after onError has ended', async () => {
    const { clock, stop, turns } = world();
    const onError = () => sleep(clock, 50);
    const options = { clock, signal: stop.signal, backoff: backoff(), onError };
    const result = retry(options, async () => {
      turns.push(clock.now());
      if (turns.length < 3) throw new Error('no');
      return 'done';
    });
    assert.equal(await clock.until(result), 'done');
    assert.deepEqual(turns, [0, 150, 400]);
  });

  it('ends with the error that onError throws', async () => {
    const { clock, stop } = world();
    const onError = (error: unknown) => {
      throw error;
    };
    const options = { clock, signal: stop.signal, backoff: backoff(), onError };
    await assert.rejects(
      retry(options, () => Promise.reject(new Error('final'))),
      /final/,
    );
  });

  it('returns undefined when the signal aborts during a delay or an attempt', async () => {
    for (const takes of [0, 80]) {
      const { clock, stop } = world();
      let failures = 0;
      const options = { clock, signal: stop.signal, backoff: backoff(), onError: () => void failures++ };
      const result = retry(options, async () => {
        if (takes > 0) await sleep(clock, takes);
        throw new Error('no');
      });
      await clock.advance(50);
      stop.abort();
      assert.equal(await clock.until(result), undefined);
      assert.equal(failures, takes === 0 ? 1 : 0);
      assert.equal(clock.pending, 0);
    }
  });
});
