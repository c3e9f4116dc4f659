import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestWork } from '../../../src/apiserver/request-work.ts';
import { Turns } from '../../../src/apiserver/turns.ts';

/** Work whose steps take as long as the test says, and how many turns it let others have. */
function worked() {
  let now = 0;
  let given = 0;
  const clock = {
    monotonic: () => now,
    soon: (fn: () => void) => {
      given++;
      queueMicrotask(fn);
    },
  };
  const work = new RequestWork({ turns: new Turns(clock), clock });
  function* steps(...took: readonly number[]) {
    for (const ms of took) {
      now += ms;
      yield;
    }
    return 'done';
  }
  return { run: (...took: readonly number[]) => work.through(steps(...took)), given: () => given };
}

test('short work is done in one turn', async () => {
  const { run, given } = worked();
  assert.equal(await run(3, 3, 3.9), 'done');
  assert.equal(given(), 0);
});

test('long work lets others have a turn after every ten milliseconds', async () => {
  const { run, given } = worked();
  assert.equal(await run(4, 4, 4, 4, 4, 4, 25, 1), 'done');
  assert.equal(given(), 3);
});

test('what a request took in several parts of its work counts together', async () => {
  const { run, given } = worked();
  await run(6);
  await run(6);
  assert.equal(given(), 1);
});
