/** Work that is repeated until a signal aborts: turns with rests between them, and retries with delays. */
import { onAbort } from './abort.ts';
import type { Backoff } from './backoff.ts';
import { type Clock, nextTurn, pause } from './clock.ts';
import { errorMessage } from './log.ts';

/**
 * Ends the rest of one keepDoing loop early. A call during a turn is remembered, so that the next turn
 * follows at once: the running turn may have looked before the change.
 */
export class Wake {
  #isCalled = false;
  #end: (() => void) | undefined;

  call(): void {
    this.#isCalled = true;
    this.#end?.();
  }

  /** Drops earlier calls; must be called before looking at what the calls report. */
  forget(): void {
    this.#isCalled = false;
  }

  /**
   * Resolves after `ms` milliseconds (Infinity: no limit), after a call since the last `forget`, or when the
   * signal aborts. Never rejects. One caller at a time.
   */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#isCalled) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    const timer = Number.isFinite(ms) ? clock.after(ms, resolve) : undefined;
    const forget = onAbort(signal, resolve);
    await promise;
    timer?.cancel();
    forget();
    this.#end = undefined;
  }
}

/** A turn that has failed. */
export interface Failure {
  /** Milliseconds until the next turn. */
  readonly retryMs: number;
  /** False if the turn before failed with the same message. */
  readonly isNew: boolean;
}

export interface KeepDoingOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /**
   * Milliseconds from the end of a turn to the next, or a function that is called after each turn for them;
   * default Infinity: until the wake is called.
   */
  readonly restMs?: number | (() => number);
  /** True if a rest comes before the first turn. */
  readonly restsFirst?: boolean;
  /** Ends a rest early, but not the delay after a failure unless `wakesRetry` is set. */
  readonly wake?: Wake;
  /** Milliseconds after each rest that only the signal ends: several calls of the wake become one turn. */
  readonly settleMs?: number | (() => number);
  /** Delays after failures instead of `restMs`. A turn that succeeds resets it. */
  readonly backoff?: Backoff;
  /** True if only the caller resets the backoff. */
  readonly keepsBackoff?: boolean;
  /** True if the wake also ends the delay after a failure. */
  readonly wakesRetry?: boolean;
  /**
   * Called after a turn that rejected, unless the signal has aborted. What it throws ends the loop. Without
   * it, the first error ends the loop.
   */
  onError?(error: unknown, failure: Failure): void | Promise<void>;
}

/**
 * Calls `act` again and again until the signal aborts, never twice at a time. `act` may return the
 * milliseconds until its next turn, which replace `restMs`. The first turn begins at once unless `restsFirst`
 * is set. A turn that runs when the signal aborts is awaited, and its error ignored. Rejects only with an
 * error of `onError`, or of `act` without `onError`.
 *
 * Example: `await keepDoing({ clock, signal, restMs: 60_000, wake, onError }, () => this.look());`
 */
export async function keepDoing(
  options: KeepDoingOptions,
  act: () => Promise<number | undefined> | Promise<void>,
): Promise<void> {
  const { clock, signal, wake = new Wake(), settleMs = 0 } = options;
  const turn = turnsOf(options, act);
  const rest = async ({ ms, isWakeful }: Rest): Promise<void> => {
    // Turns that end at once do not hold the event loop.
    if (ms <= 0) await nextTurn(clock);
    else if (isWakeful) await wake.wait(clock, ms, signal);
    else await pause(clock, ms, signal);
    const settle = milliseconds(settleMs);
    if (settle > 0) await pause(clock, settle, signal);
  };
  if (options.restsFirst && !signal.aborted) await rest({ ms: restAfter(options), isWakeful: true });
  while (!signal.aborted) {
    wake.forget();
    const next = await turn();
    if (!signal.aborted) await rest(next);
  }
}

/** Time in milliseconds until the next turn, and whether the wake ends it. */
interface Rest {
  readonly ms: number;
  readonly isWakeful: boolean;
}

/** Returns a function that makes a turn, and returns what has to follow it. */
function turnsOf(
  options: KeepDoingOptions,
  act: () => Promise<number | undefined> | Promise<void>,
): () => Promise<Rest> {
  const { signal, backoff } = options;
  const isRetryWakeful = backoff === undefined || options.wakesRetry === true;
  let last: string | undefined;
  const afterError = async (error: unknown): Promise<number> => {
    if (!options.onError) throw error;
    const ms = backoff?.next() ?? restAfter(options);
    const message = errorMessage(error);
    await options.onError(error, { retryMs: ms, isNew: message !== last });
    last = message;
    return ms;
  };
  return async () => {
    try {
      const ms = (await act()) ?? restAfter(options);
      if (!options.keepsBackoff) backoff?.reset();
      last = undefined;
      return { ms, isWakeful: true };
    } catch (error) {
      if (signal.aborted) return { ms: 0, isWakeful: false };
      return { ms: await afterError(error), isWakeful: isRetryWakeful };
    }
  };
}

export interface RetryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly backoff: Backoff;
  /**
   * Called after each failure, unless the signal has aborted; the delay begins once it has ended. What it
   * throws ends the retries.
   */
  onError(error: unknown, retryMs: number): void | Promise<void>;
}

/**
 * Calls `act` until it succeeds, and returns its result; undefined if the signal aborts before. Rejects only
 * with an error of `onError`.
 */
export async function retry<T>(options: RetryOptions, act: () => Promise<T>): Promise<T | undefined> {
  const { clock, signal, backoff } = options;
  while (!signal.aborted) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted) return undefined;
      const retryMs = backoff.next();
      await options.onError(error, retryMs);
      await pause(clock, retryMs, signal);
    }
  }
  return undefined;
}

const restAfter = ({ restMs = Number.POSITIVE_INFINITY }: KeepDoingOptions) => milliseconds(restMs);

const milliseconds = (value: number | (() => number)) => (typeof value === 'function' ? value() : value);
