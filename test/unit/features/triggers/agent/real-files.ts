/** Waiting for work on real files with a fake clock: no test sleeps, and none is faster than the disk. */
import { setImmediate as loopTurn } from 'node:timers/promises';
import type { FakeClock } from '../../../../fixtures/fake-clock.ts';

/** Number of turns of the event loop without work on files after which no more work follows. */
const quietTurns = 5;
const maxSteps = 500;

const works = () => process.getActiveResourcesInfo().some((name) => /^(?:FSReq|CloseReq)/.test(name));

/** Resolves when no work on files is in progress, and nothing happens any more before time passes. */
export async function atRest(clock: FakeClock): Promise<void> {
  for (let quiet = 0; quiet < quietTurns; quiet = works() ? 0 : quiet + 1) await loopTurn();
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
