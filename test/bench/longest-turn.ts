/** How long work holds the thread at once. */
import { setImmediate } from 'node:timers/promises';

/** Turns in which what a request leaves to do is done, such as telling watches of it. */
const turnsAfter = 200;

/** Milliseconds of processor time of this thread. */
function used(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The longest turn of the loop, in milliseconds of this thread, until `work` is done and all is quiet again. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let after = 0;
  let done = false;
  const finished = setImmediate()
    .then(work)
    .finally(() => {
      done = true;
    });
  // Whether it failed is told at the end.
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
