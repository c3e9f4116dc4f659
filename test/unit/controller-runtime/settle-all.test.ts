import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { atOnce, doAll, settleAll } from '../../../src/controller-runtime/settle-all.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('settleAll', () => {
  it('runs a limited number at a time, and returns all results in the order of the items', async () => {
    let [underWay, most] = [0, 0];
    const results = await settleAll(new FakeClock(), numbers(1_000), async (item) => {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      if (item % 2 === 1) throw new Error(`no ${item}`);
      return item * 2;
    });
    assert.equal(most, atOnce);
    assert.equal(results.length, 1_000);
    for (const [index, result] of results.entries()) {
      if (result.status === 'fulfilled') assert.equal(result.value, index * 2);
      else assert.equal(result.reason.message, `no ${index}`);
      assert.equal(result.status, index % 2 === 1 ? 'rejected' : 'fulfilled');
    }
  });

  it('lets other work run if its work never waits', async () => {
    const clock = new FakeClock();
    let [took, turns] = [0, 0];
    clock.monotonic = () => took;
    const { soon } = clock;
    clock.soon = (fn) => {
      turns++;
      soon.call(clock, fn);
    };
    await settleAll(clock, numbers(1_000), async () => {
      took++;
    });
    assert.ok(turns >= 90, `${turns} turns for a second of work`);
  });

  it('does nothing without work', async () => {
    assert.deepEqual(await settleAll(new FakeClock(), [], () => assert.fail()), []);
  });
});

describe('doAll', () => {
  it('does all items, and rejects with the first failure in the order of the items', async () => {
    const done: number[] = [];
    const work = async (item: number) => {
      if (item === 500) throw new Error('late');
      if (item === 3) {
        await new Promise(setImmediate);
        throw new Error('first');
      }
      done.push(item);
    };
    await assert.rejects(doAll(new FakeClock(), numbers(1_000), work), /first/);
    assert.equal(done.length, 998);
  });
});
