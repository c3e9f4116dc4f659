/** Time as a dependency: only src/roles uses the real clock, so that tests can advance time by hand. */
export { rfc3339, rfc3339Micro } from './time.ts';

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the Unix epoch (wall clock). */
  now(): number;
  /**
   * Milliseconds since an arbitrary moment, for measuring durations: setting the machine's clock does not
   * change it.
   */
  monotonic(): number;
  /**
   * Calls `fn` in the next turn of the event loop, after the I/O that has arrived by then. A call from within
   * `fn` runs in a later turn.
   */
  soon(fn: () => void): void;
  /**
   * Calls `fn` once after `ms` milliseconds unless the timer is canceled first. Any number is valid: zero or
   * less means soon, and a delay beyond the maximum of Node's timers (24.8 days) uses several.
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
      const next = left > maxTimerMs ? () => arm(left - maxTimerMs) : fn;
      timer = setTimeout(next, Math.min(left, maxTimerMs));
    };
    arm(ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Maximum delay of setTimeout; with a longer one it fires at once. */
const maxTimerMs = 2 ** 31 - 1;

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

/** Resolves after `ms` milliseconds or when the signal aborts; never rejects. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  // The sleep rejects only when the signal aborts.
  return sleep(clock, ms, signal).catch(() => undefined);
}
