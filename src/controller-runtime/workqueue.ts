/**
 * Queue of keys waiting to be worked on (client-go util/workqueue). Invariants: a key waits at most once; a
 * key that is worked on is never handed out again until it is done; a key added in the meantime is handed out
 * once more after that, so no change is lost.
 */
import { type BackoffOptions, backoffMs } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { type QueueObserver, type QueueState, unobserved } from './queue-metrics.ts';
import { ReadyKeys } from './ready-keys.ts';

/** Back-off of client-go: 5 ms after the first failure of a key, at most 1000 s. */
const usualBackoff: BackoffOptions = { initialMs: 5, maxMs: 1_000_000 };

interface Waiting {
  readonly at: number;
  readonly timer: Timer;
}

export class WorkQueue<K> {
  readonly #clock: Clock;
  readonly #backoff: BackoffOptions;
  /** Keys that can be handed out; none of them is in #processing. */
  readonly #ready: ReadyKeys<K>;
  /** Keys that were added and not handed out since, with the time of addition. */
  readonly #dirty = new Map<K, number>();
  /** Keys that are being worked on, with the time of the start. */
  readonly #processing = new Map<K, number>();
  readonly #delayed = new Map<K, Waiting>();
  readonly #failures = new Map<K, number>();
  readonly #takers: ((key: K | undefined) => void)[] = [];
  #observer = unobserved;
  #down = false;

  /** Keys with a higher urgency are handed out first; default: all are equal. */
  constructor(clock: Clock, backoff: Partial<BackoffOptions> = {}, urgencyOf?: (key: K) => number) {
    this.#clock = clock;
    this.#backoff = { ...usualBackoff, ...backoff };
    this.#ready = new ReadyKeys(urgencyOf);
  }

  /** Reports all later changes to the observer. */
  observedBy(observer: QueueObserver): void {
    this.#observer = observer;
  }

  /** Returns the current state. */
  get state(): QueueState {
    const now = this.#clock.monotonic();
    const took = [...this.#processing.values()].map((begun) => (now - begun) / 1000);
    return {
      depth: this.length,
      unfinished: took.reduce((sum, seconds) => sum + seconds, 0),
      longest: took.reduce((most, seconds) => Math.max(most, seconds), 0),
    };
  }

  /** Number of keys that could be handed out now. */
  get length(): number {
    return this.#ready.size;
  }

  add(key: K): void {
    this.addAll([key]);
  }

  /** Adds all keys before the first is handed out. */
  addAll(keys: Iterable<K>): void {
    if (this.#down) return;
    const now = this.#clock.monotonic();
    for (const key of keys) {
      if (this.#dirty.has(key)) continue;
      this.#dirty.set(key, now);
      this.#observer.added();
      if (!this.#processing.has(key)) this.#ready.add(key);
    }
    this.#handOut();
  }

  /** Adds the key in `ms` milliseconds. If it is already delayed, the earlier of both times applies. */
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

  /**
   * Adds the key after a delay that grows with its failures since `forget`. Returns the delay in
   * milliseconds.
   */
  addRateLimited(key: K): number {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    this.#observer.retried();
    const ms = backoffMs(this.#backoff, failures);
    this.addAfter(key, ms);
    return ms;
  }

  /** Resets the failures of a key that succeeded or is given up. */
  forget(key: K): void {
    this.#failures.delete(key);
  }

  failures(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  /**
   * Waits for a key. The caller must pass every received key to `done`. Resolves to undefined after
   * `shutDown`.
   */
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
    const begun = this.#processing.get(key);
    if (begun !== undefined) this.#observer.done((this.#clock.monotonic() - begun) / 1000);
    this.#processing.delete(key);
    if (this.#down || !this.#dirty.has(key)) return;
    this.#ready.add(key);
    this.#handOut();
  }

  /** Drops the waiting keys and lets every `get` resolve. Keys that are being worked on are not affected. */
  shutDown(): void {
    this.#down = true;
    for (const { timer } of this.#delayed.values()) timer.cancel();
    for (const part of [this.#delayed, this.#ready, this.#dirty, this.#failures]) part.clear();
    for (const take of this.#takers.splice(0)) take(undefined);
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const key = this.#ready.take();
      if (key === undefined) return;
      const take = this.#takers.shift() as (key: K | undefined) => void;
      const now = this.#clock.monotonic();
      this.#observer.taken((now - (this.#dirty.get(key) ?? now)) / 1000);
      this.#dirty.delete(key);
      this.#processing.set(key, now);
      take(key);
    }
  }
}
