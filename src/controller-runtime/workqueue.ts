/**
 * Keys waiting to be worked on (client-go util/workqueue). Invariants: a key waits at most once; a key that is
 * worked on is never handed out again until it is done; a key added meanwhile is handed out once more after that,
 * so no change is lost.
 */
import type { Clock, Timer } from '../base/clock.ts';

export interface RetryLimits {
  /** Delay after the first failure of a key; doubled by each further one. Default 5 ms. */
  readonly baseMs?: number;
  /** Default 1000 s. */
  readonly maxMs?: number;
}

interface Waiting {
  readonly at: number;
  readonly timer: Timer;
}

/** setTimeout fires at once when asked for more than 2^31-1 ms. */
const longestTimerMs = 2_147_483_647;

export class WorkQueue<K> {
  readonly #clock: Clock;
  readonly #limits: Required<RetryLimits>;
  /** Keys to hand out, oldest first; none of them is in #processing. */
  readonly #ready = new Set<K>();
  /** Keys that were added and not handed out since. */
  readonly #dirty = new Set<K>();
  readonly #processing = new Set<K>();
  readonly #delayed = new Map<K, Waiting>();
  readonly #failures = new Map<K, number>();
  readonly #takers: ((key: K | undefined) => void)[] = [];
  #down = false;

  constructor(clock: Clock, limits: RetryLimits = {}) {
    this.#clock = clock;
    this.#limits = { baseMs: 5, maxMs: 1_000_000, ...limits };
  }

  /** Keys that could be handed out now. */
  get length(): number {
    return this.#ready.size;
  }

  add(key: K): void {
    if (this.#down || this.#dirty.has(key)) return;
    this.#dirty.add(key);
    if (this.#processing.has(key)) return;
    this.#ready.add(key);
    this.#handOut();
  }

  /** Adds the key in `ms` milliseconds; when it waits already, at the earlier of both times. */
  addAfter(key: K, ms: number): void {
    if (this.#down) return;
    if (!(ms > 0)) {
      this.add(key);
      return;
    }
    const at = this.#clock.now() + ms;
    const waiting = this.#delayed.get(key);
    if (waiting && waiting.at <= at) return;
    waiting?.timer.cancel();
    this.#arm(key, at, ms);
  }

  /** Adds the key after a delay that grows with its failures since `forget`. Returns the delay. */
  addRateLimited(key: K): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const ms = Math.min(this.#limits.maxMs, this.#limits.baseMs * 2 ** failures);
    this.addAfter(key, ms);
    return ms;
  }

  /** The key succeeded, or is given up: its next failure counts as the first. */
  forget(key: K): void {
    this.#failures.delete(key);
  }

  failures(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Waits for a key; every key got must be given to `done`. Undefined: the queue was shut down. */
  get(): Promise<K | undefined> {
    return new Promise((resolve) => {
      if (this.#down) {
        resolve(undefined);
        return;
      }
      this.#takers.push(resolve);
      this.#handOut();
    });
  }

  done(key: K): void {
    this.#processing.delete(key);
    if (this.#down || !this.#dirty.has(key)) return;
    this.#ready.add(key);
    this.#handOut();
  }

  /** Drops what waits and lets every `get` resolve. What is being worked on is not touched. */
  shutDown(): void {
    this.#down = true;
    for (const { timer } of this.#delayed.values()) timer.cancel();
    for (const part of [this.#delayed, this.#ready, this.#dirty, this.#failures]) part.clear();
    for (const take of this.#takers.splice(0)) take(undefined);
  }

  #arm(key: K, at: number, ms: number): void {
    const timer = this.#clock.after(Math.min(ms, longestTimerMs), () => {
      if (ms > longestTimerMs) {
        this.#arm(key, at, ms - longestTimerMs);
        return;
      }
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, timer });
  }

  #handOut(): void {
    for (const key of this.#ready) {
      const take = this.#takers.shift();
      if (!take) return;
      this.#ready.delete(key);
      this.#dirty.delete(key);
      this.#processing.add(key);
      take(key);
    }
  }
}
