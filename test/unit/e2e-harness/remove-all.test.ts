/** Removal of a host's containers by an engine that takes long for each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '../../../src/base/clock.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { removeAll } from '../../fixtures/remove-all.ts';

/** An engine that ends each call after 60 s and has removed `perCall` containers by then. */
function slowEngine(count: number, perCall: (call: number) => number) {
  const clock = new FakeClock();
  let ids = Array.from({ length: count }, (_, at) => `c${at}`);
  let calls = 0;
  return {
    clock,
    calls: () => calls,
    list: async () => ids,
    remove: async (given: readonly string[]) => {
      assert.deepEqual(given, ids);
      await sleep(clock, 60_000);
      ids = ids.slice(perCall(calls++));
      if (ids.length > 0) throw new Error('docker rm: did not end within 60 s and was killed');
    },
  };
}

test('an engine that removes one container a minute is awaited', async () => {
  const engine = slowEngine(9, () => 1);
  await engine.clock.until(removeAll(engine));
  assert.deepEqual([await engine.list(), engine.calls()], [[], 9]);
});

test('the reason is reported once no container was removed for a minute', async () => {
  const engine = slowEngine(3, (call) => (call === 0 ? 1 : 0));
  await assert.rejects(engine.clock.until(removeAll(engine)), /did not end within 60 s and was killed/);
  assert.deepEqual([await engine.list(), engine.calls()], [['c1', 'c2'], 2]);
});

test('without containers no request for a removal is sent to the engine', async () => {
  const engine = slowEngine(0, () => 0);
  await removeAll(engine);
  assert.equal(engine.calls(), 0);
});
