/** A time limit on work that ends when a signal aborts. */
import { onAbort } from '../../../base/abort.ts';
import type { Clock } from '../../../base/clock.ts';

/** The reason of the signal after a timeout. */
export class TimeOver extends Error {
  override readonly name = 'TimeOver';
}

/** Runs `work` with a signal that aborts after `ms` (undefined: never) or when `signal` aborts. */
export async function limited<T>(
  clock: Clock,
  ms: number | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const forget = onAbort(signal, () => ending.abort(signal.reason));
  const timer =
    ms === undefined ? undefined : clock.after(ms, () => ending.abort(new TimeOver('the time is over')));
  try {
    return await work(ending.signal);
  } finally {
    timer?.cancel();
    forget();
  }
}
