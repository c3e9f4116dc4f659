/** Waiting for an answer for a limited time. */
import { type Clock, sleep } from '../../base/clock.ts';

/** The result of the promise; undefined when it takes longer than `ms`. Rejects with the promise. */
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
