/**
 * Keys waiting to be worked on (client-go util/workqueue). Invariants: a key waits at most once; a key that is
 * worked on is never handed out again until it is done; a key added meanwhile is handed out once more after that,
 * so no change is lost.
 */
import { type BackoffOptions, backoffMs } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';

/** client-go's: 5 ms after the first failure of a key, 1000 s at most. */
const usualBackoff: BackoffOptions = { initialMs: 5, maxMs: 1_000_000 };

interface Waiting {
  readonly at: number;
  readonly timer: Timer;
}

export class WorkQueue<K> {
  readonly #clock: Clock;
  readonly #backoff: BackoffOptions;
  /** Keys to hand out, oldest first; none of them is in #processing. */
  readonly #ready = new Set<K>();
  /** Keys that were added and not handed out since. */
  readonly #dirty = new Set<K>();
  readonly #processing = new Set<K>();
  readonly #delayed = new Map<K, Waiting>();
  readonly #failures = new Map<K, number>();
  readonly #takers: ((key: K | undefined) => void)[] = [];
  #down = false;

  constructor(clock: Clock, backoff: Partial<BackoffOptions> = {}) {
    this.#clock = clock;
    this.#backoff = { ...usualBackoff, ...backoff };
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
    const timer = this.#clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, timer });
  }

  /** Adds the key after a delay that grows with its failures since `forget`. Returns the delay. */
  addRateLimited(key: K): number {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    const ms = backoffMs(this.#backoff, failures);
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
