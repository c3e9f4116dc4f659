/** Waiting for work on real files under a clock of tests: no test sleeps, and none is quicker than the disk. */
import { setImmediate as loopTurn } from 'node:timers/promises';
import type { FakeClock } from '../../../fixtures/fake-clock.ts';

/** Turns of the event loop after which work on files that sets no timer is taken for stuck: it is held by the test. */
const mostTurns = 3000;
const mostSteps = 500;

/**
 * Resolves when something waits for the clock, so that all work on files before is done. `others` is the number of timers of
 * what has no files.
 */
export async function atRest(clock: FakeClock, others = 0): Promise<void> {
  for (let turn = 0; turn < mostTurns && clock.pending <= others; turn++) await loopTurn();
  await clock.settle();
}

/** Steps from timer to timer until the probe holds. Rejects with `what` after 500 steps. */
export async function passes(
  clock: FakeClock,
  what: string,
  probe: () => unknown,
  others = 0,
): Promise<void> {
  for (let step = 0; step < mostSteps; step++) {
    await atRest(clock, others);
    if (probe()) return;
    await clock.advance(clock.nextIn ?? 0);
  }
  throw new Error(`did not happen: ${what}`);
}

/** Time passes, and all work on files that falls into it is done. */
export async function pass(clock: FakeClock, ms: number, others = 0): Promise<void> {
  const end = clock.now() + ms;
  await atRest(clock, others);
  for (let next = clock.nextIn; next !== undefined && clock.now() + next <= end; next = clock.nextIn) {
    await clock.advance(next);
    await atRest(clock, others);
  }
  await clock.advance(Math.max(0, end - clock.now()));
}
