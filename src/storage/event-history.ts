/** The latest events, for watchers that resume: bounded by count, age and bytes. */
import type { CacheEvent } from './cache.ts';

export interface HistoryLimits {
  /** Fewer events than this are kept whatever their age. */
  readonly minEvents: number;
  readonly maxEvents: number;
  /** Beyond `minEvents`, older ones go; ms. */
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

export const defaultHistoryLimits: HistoryLimits = {
  minEvents: 10_000,
  maxEvents: 100_000,
  maxAgeMs: 75_000,
  maxBytes: 128 << 20,
};

interface BoundedMap {
  readonly event: CacheEvent;
  readonly at: number;
}

export class EventHistory {
  readonly #limits: HistoryLimits;
  #events: BoundedMap[] = [];
  #first = 0;
  #bytes = 0;
  #start = 0;

  constructor(limits: HistoryLimits) {
    this.#limits = limits;
  }

  /** Every event with a greater revision is remembered. */
  get start(): number {
    return this.#start;
  }

  /** Forgets everything; from now on events after `revision` are remembered. */
  restart(revision: number): void {
    this.#events = [];
    this.#first = 0;
    this.#bytes = 0;
    this.#start = revision;
  }

  add(event: CacheEvent, now: number): void {
    this.#events.push({ event, at: now });
    this.#bytes += event.frame.length;
    while (this.#isOverfull(now)) this.#drop();
    if (this.#first > 1024 && this.#first * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
  }

  /** The remembered events under `prefix` after `revision`, which is at least `start`. */
  after(revision: number, prefix: string): CacheEvent[] {
    let low = this.#first;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.event.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    const found: CacheEvent[] = [];
    for (let i = low; i < this.#events.length; i++) {
      const event = this.#events[i]?.event;
      if (event?.key.startsWith(prefix)) found.push(event);
    }
    return found;
  }

  #isOverfull(now: number): boolean {
    const count = this.#events.length - this.#first;
    if (count <= 1) return false;
    if (count > this.#limits.maxEvents || this.#bytes > this.#limits.maxBytes) return true;
    const oldest = this.#events[this.#first];
    return count > this.#limits.minEvents && oldest !== undefined && now - oldest.at > this.#limits.maxAgeMs;
  }

  #drop(): void {
    const oldest = this.#events[this.#first++];
    if (!oldest) return;
    this.#bytes -= oldest.event.frame.length;
    this.#start = oldest.event.revision;
  }
}
