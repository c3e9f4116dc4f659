/** Time for which work blocks the thread. */
import { setImmediate } from 'node:timers/promises';

/** Turns for the work that remains after a request, such as sending events to watches. */
const turnsAfter = 200;

/** Returns the milliseconds of processor time of this thread. */
function used(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Returns the longest turn of the event loop, in milliseconds of this thread, until `work` is done and the
 * loop is idle.
 */
export async function maxTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let after = 0;
  let done = false;
  const finished = setImmediate()
    .then(work)
    .finally(() => {
      done = true;
    });
  // A failure is reported at the end.
  finished.catch(() => undefined);
  for (let last = used(); after < turnsAfter; after += done ? 1 : 0) {
    await setImmediate();
    const now = used();
    longest = Math.max(longest, now - last);
    last = now;
  }
  await finished;
  return longest;
}
