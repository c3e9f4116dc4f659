/**
 * The latest events of all kinds, for watchers that resume: limited by count, age and bytes. A removed event
 * only affects watchers of its own kind. Watchers of a kind without removed events can resume after any
 * revision since the start. Upstream has one such history for each kind (apiserver/pkg/storage/cacher: at
 * least 100 events, and the events of 75 s up to 102,400).
 */
import type { CacheEvent } from './cache.ts';
import { Fifo } from './fifo.ts';
import { countBefore } from './sorted.ts';

export interface HistoryLimits {
  /** Minimum number of events, which are kept whatever their age. */
  readonly minEvents: number;
  readonly maxEvents: number;
  /** Maximum age in milliseconds of events beyond `minEvents`. */
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

export const defaultHistoryLimits: HistoryLimits = {
  minEvents: 1000,
  maxEvents: 100_000,
  maxAgeMs: 75_000,
  maxBytes: 128 << 20,
};

interface Remembered {
  readonly event: CacheEvent;
  readonly at: number;
}

export class EventHistory {
  readonly #limits: HistoryLimits;
  #events = new Fifo<Remembered>();
  #bytes = 0;
  #start = 0;
  /** Revision of the latest removed event of a kind, by the prefix of the kind. */
  readonly #gone = new Map<string, number>();

  constructor(limits: HistoryLimits) {
    this.#limits = limits;
  }

  /** Returns the revision after which every event under `prefix` is kept. */
  startOf(prefix: string): number {
    const ofKind = this.#gone.get(kindOf(prefix));
    if (ofKind !== undefined) return ofKind;
    let start = this.#start;
    for (const [kind, revision] of this.#gone)
      if (kind.startsWith(prefix) && revision > start) start = revision;
    return start;
  }

  /** Removes all events; from now on events after `revision` are kept. */
  restart(revision: number): void {
    this.#events = new Fifo();
    this.#bytes = 0;
    this.#start = revision;
    this.#gone.clear();
  }

  /** Adds an event, and removes the oldest ones beyond the limits. The last event always stays. */
  add(event: CacheEvent, now: number): void {
    this.#events.push({ event, at: now });
    this.#bytes += event.frame.length;
    for (
      let oldest = this.#oldest;
      this.#events.length > 1 && this.#isTooMuch(oldest, now);
      oldest = this.#oldest
    ) {
      this.#events.shift();
      this.#bytes -= oldest.event.frame.length;
      this.#gone.set(kindOf(oldest.event.key), oldest.event.revision);
    }
  }

  /** Returns the kept events under `prefix` after `revision`, which is at least startOf(prefix). */
  after(revision: number, prefix: string): CacheEvent[] {
    const { length } = this.#events;
    const first = countBefore(length, (index) => this.#at(index).event.revision <= revision);
    const found: CacheEvent[] = [];
    for (let index = first; index < length; index++) {
      const { event } = this.#at(index);
      if (event.key.startsWith(prefix)) found.push(event);
    }
    return found;
  }

  get #oldest(): Remembered {
    return this.#at(0);
  }

  /** Returns an event at an existing index. */
  #at(index: number): Remembered {
    return this.#events.at(index) as Remembered;
  }

  #isTooMuch(oldest: Remembered, now: number): boolean {
    const { minEvents, maxEvents, maxAgeMs, maxBytes } = this.#limits;
    const { length } = this.#events;
    if (length > maxEvents || this.#bytes > maxBytes) return true;
    return length > minEvents && now - oldest.at > maxAgeMs;
  }
}

/**
 * Returns `/registry/pods/` for keys below it (storagePrefix in apimachinery/resource-definition.ts); a
 * shorter key is returned unchanged.
 */
function kindOf(key: string): string {
  const end = key.indexOf('/', key.indexOf('/', 1) + 1);
  return end < 0 ? key : key.slice(0, end + 1);
}
