/** Waiting for work on real files with a fake clock: no test sleeps, and none is faster than the disk. */
import { stat } from 'node:fs/promises';
import { setImmediate as loopTurn } from 'node:timers/promises';
import type { FakeClock } from '../../../../fixtures/fake-clock.ts';

/** Number of turns of the event loop without work on files after which no more work follows. */
const quietTurns = 100;
/** Number of times that the pool of threads is drained before time may pass. */
const drainRounds = 3;
const maxSteps = 500;

const works = () => process.getActiveResourcesInfo().some((name) => /^(?:FSReq|CloseReq)/.test(name));

/** Resolves when no work on files is in progress, and nothing happens any more before time passes. */
export async function atRest(clock: FakeClock): Promise<void> {
  for (let round = 0; round < drainRounds; round++) {
    for (let quiet = 0; quiet < quietTurns; quiet = works() ? 0 : quiet + 1) await loopTurn();
    // More calls than the pool has threads end after the work that was in the pool before.
    await Promise.all(Array.from({ length: 8 }, () => stat('/')));
  }
  await clock.settle();
}

/** Advances the clock from timer to timer until the probe holds. Rejects with `what` after 500 steps. */
export async function passes(clock: FakeClock, what: string, probe: () => unknown): Promise<void> {
  for (let step = 0; step < maxSteps; step++) {
    await atRest(clock);
    if (probe()) return;
    await clock.advance(clock.nextIn ?? 0);
  }
  throw new Error(`did not happen: ${what}`);
}

/** Advances the clock, and completes all work on files meanwhile. */
export async function pass(clock: FakeClock, ms: number): Promise<void> {
  const end = clock.now() + ms;
  await atRest(clock);
  for (let next = clock.nextIn; next !== undefined && clock.now() + next <= end; next = clock.nextIn) {
    await clock.advance(next);
    await atRest(clock);
  }
  await clock.advance(Math.max(0, end - clock.now()));
}
