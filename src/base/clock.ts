/** Time as a dependency: nothing outside src/roles reads the real clock, so tests step it by hand. */
export { rfc3339, rfc3339Micro } from './time.ts';

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the Unix epoch (wall clock). */
  now(): number;
  /** Milliseconds since some moment, for how long something took: setting the machine's clock does not change it. */
  monotonic(): number;
  /**
   * Calls `fn` in the next turn of the event loop, after the I/O that has arrived by then, and each in a turn of its
   * own when it is asked for from within another.
   */
  soon(fn: () => void): void;
  /**
   * Calls `fn` once after `ms` milliseconds unless the timer is cancelled first. Any number will do: what is not above
   * zero means soon, and what a timer of Node cannot hold (24.8 days) takes several.
   */
  after(ms: number, fn: () => void): Timer;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  soon: (fn) => void setImmediate(fn),
  after(ms, fn) {
    let timer: NodeJS.Timeout;
    const arm = (left: number) => {
      const next = left > longestTimerMs ? () => arm(left - longestTimerMs) : fn;
      timer = setTimeout(next, Math.min(left, longestTimerMs));
    };
    arm(ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Asked for more, setTimeout fires at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Resolves in the next turn of the event loop. */
export const nextTurn = (clock: Clock): Promise<void> => new Promise((resolve) => clock.soon(resolve));

/** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
