/** Not waiting for an answer for longer than it is worth. */
import { type Clock, sleep } from '../../base/clock.ts';

/** What the promise resolves to; undefined when that takes longer. Rejects as it does. */
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
