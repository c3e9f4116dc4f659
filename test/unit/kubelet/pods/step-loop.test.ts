import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NextStep, StepLoop } from '../../../../src/kubelet/pods/step-loop.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const rest: NextStep = { isDue: false, after: undefined };

/** A loop whose steps return `results` in turn, and then that none is due. */
function world(results: readonly (NextStep | Error)[] = [], paused = false) {
  const clock = new FakeClock();
  const began: number[] = [];
  const failures: unknown[] = [];
  const left = [...results];
  const loop = new StepLoop(
    {
      clock,
      async step() {
        began.push(clock.monotonic());
        const result = left.shift() ?? rest;
        if (result instanceof Error) throw result;
        return result;
      },
      failed: (error, afterMs) => failures.push([(error as Error).message, afterMs]),
    },
    paused,
  );
  return { clock, began, failures, loop };
}

test('a wake starts one step, and a step that is due follows at once', async () => {
  const { clock, began, loop } = world([{ isDue: true, after: undefined }]);
  loop.wake();
  assert.equal(loop.isRunning, true);
  await clock.settle();
  assert.deepEqual(began, [0, 0]);
  assert.equal(loop.isRunning, false);
});

test('wakes during a step start one further step', async () => {
  const clock = new FakeClock();
  let count = 0;
  const loop = new StepLoop(
    {
      clock,
      async step() {
        count++;
        if (count === 1) for (let wake = 0; wake < 3; wake++) loop.wake();
        return rest;
      },
      failed: assert.fail,
    },
    false,
  );
  loop.wake();
  await clock.settle();
  assert.equal(count, 2);
});

test('a step that is due later begins then, or earlier by a wake, which replaces its timer', async () => {
  const { clock, began, loop } = world([
    { isDue: false, after: 700 },
    { isDue: false, after: 700 },
  ]);
  loop.wake();
  await clock.advance(699);
  assert.deepEqual(began, [0]);
  loop.wake();
  await clock.advance(699);
  assert.deepEqual(began, [0, 699]);
  await clock.advance(1);
  assert.deepEqual(began, [0, 699, 1399]);
});

test('a failed step is tried again after longer and longer pauses, until one succeeds', async () => {
  const failed = ['a', 'b', 'c'].map((text) => new Error(text));
  const { clock, began, failures, loop } = world([...failed, rest, new Error('d')]);
  loop.wake();
  await clock.advance(60_000);
  loop.wake();
  await clock.settle();
  assert.deepEqual(failures, [
    ['a', 500],
    ['b', 1000],
    ['c', 2000],
    ['d', 500],
  ]);
  assert.deepEqual(began, [0, 500, 1500, 3500, 60_000]);
});

test('a paused loop keeps its wakes until it is resumed', async () => {
  const { clock, began, loop } = world([], true);
  loop.wake();
  await clock.settle();
  assert.deepEqual(began, []);
  loop.resume();
  await clock.settle();
  assert.deepEqual(began, [0]);
  loop.pause();
  loop.wake();
  await clock.settle();
  assert.deepEqual(began, [0]);
});

test('a loop that is stopped ends with its current step, whose failure is not reported', async () => {
  const clock = new FakeClock();
  const current = Promise.withResolvers<NextStep>();
  let count = 0;
  const step = () => {
    count++;
    return current.promise;
  };
  const loop = new StepLoop({ clock, step, failed: assert.fail }, false);
  loop.wake();
  loop.wake();
  loop.stop();
  assert.equal(loop.isStopped, true);
  const idle = loop.idle();
  current.reject(new Error('interrupted'));
  await idle;
  loop.wake();
  await clock.advance(60_000);
  assert.equal(count, 1);
});

test('a loop that is stopped does not begin the step of its timer', async () => {
  const { clock, began, loop } = world([{ isDue: false, after: 700 }]);
  loop.wake();
  await clock.settle();
  loop.stop();
  await clock.advance(10_000);
  assert.deepEqual(began, [0]);
});
