/** Waits for a promise for a limited time. */
import { type Clock, sleep } from './clock.ts';

/**
 * Returns the result of the promise; undefined if it takes longer than `ms` milliseconds. Rejects if the
 * promise rejects.
 */
export async function answerWithin<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  const answered = new AbortController();
  const late = sleep(clock, ms, answered.signal).then(() => undefined);
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    answered.abort();
  }
}
