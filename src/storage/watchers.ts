/**
 * The watchers of the cache, grouped by prefix: an event is put once into the queue of each group that wants it,
 * and a flush hands the same array to every watcher of the group. The first event after a pause goes out at once,
 * those that follow within `flushMs` together.
 */
import type { Clock } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { CacheEvent, CacheWatch } from './cache.ts';

const flushMs = 2;

interface Watcher {
  readonly watch: CacheWatch;
  /** Events up to here are not wanted. */
  readonly after: number;
  /** What it missed before it joined; handed out before anything else. */
  backlog: readonly CacheEvent[];
}

interface Group {
  readonly watchers: Set<Watcher>;
  pending: CacheEvent[];
}

export class Watchers {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #groups = new Map<string, Group>();
  readonly #dirty = new Set<Group>();
  #revision = 0;
  #cooling = false;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * `backlog` holds every event after `after` that the cache has applied so far. Throws RangeError for a prefix that is no
   * directory: events are found by theirs.
   */
  add(prefix: string, after: number, backlog: readonly CacheEvent[], watch: CacheWatch): () => void {
    if (!prefix.endsWith('/')) throw new RangeError(`a watch needs a prefix that ends in "/", not ${prefix}`);
    const group = this.#group(prefix);
    // What is pending is in the backlog as well: the others get it now.
    this.#flushGroup(group);
    const watcher: Watcher = { watch, after, backlog };
    group.watchers.add(watcher);
    if (backlog.length > 0) queueMicrotask(() => this.#deliver(group, watcher, []));
    return () => this.#remove(prefix, group, watcher);
  }

  /** Queues events that have just been applied, up to `revision`. */
  publish(events: readonly CacheEvent[], revision: number): void {
    this.#revision = revision;
    for (const event of events) {
      for (const group of this.#groupsOf(event.key)) {
        group.pending.push(event);
        this.#dirty.add(group);
      }
    }
    if (this.#dirty.size > 0 && !this.#cooling) this.#flush();
  }

  /** Ends the watches for whose prefix `isLost` says so. */
  expire(isLost: (prefix: string) => boolean): void {
    this.#flushAll();
    for (const [prefix, group] of [...this.#groups]) {
      if (!isLost(prefix)) continue;
      for (const watcher of [...group.watchers]) {
        this.#deliver(group, watcher, []);
        if (!group.watchers.has(watcher)) continue;
        this.#remove(prefix, group, watcher);
        this.#guard(() => watcher.watch.onExpired());
      }
    }
  }

  #group(prefix: string): Group {
    let group = this.#groups.get(prefix);
    if (!group) {
      group = { watchers: new Set(), pending: [] };
      this.#groups.set(prefix, group);
    }
    return group;
  }

  #remove(prefix: string, group: Group, watcher: Watcher): void {
    group.watchers.delete(watcher);
    if (group.watchers.size > 0 || this.#groups.get(prefix) !== group) return;
    this.#groups.delete(prefix);
    this.#dirty.delete(group);
  }

  *#groupsOf(key: string): Iterable<Group> {
    for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
      const group = this.#groups.get(key.slice(0, slash + 1));
      if (group) yield group;
    }
  }

  #flush(): void {
    this.#flushAll();
    this.#cooling = true;
    this.#clock.after(flushMs, () => {
      this.#cooling = false;
      if (this.#dirty.size > 0) this.#flush();
    });
  }

  #flushAll(): void {
    for (const group of [...this.#dirty]) this.#flushGroup(group);
  }

  #flushGroup(group: Group): void {
    this.#dirty.delete(group);
    if (group.pending.length === 0) return;
    const events = group.pending;
    group.pending = [];
    for (const watcher of [...group.watchers]) this.#deliver(group, watcher, events);
  }

  #deliver(group: Group, watcher: Watcher, pending: readonly CacheEvent[]): void {
    if (!group.watchers.has(watcher)) return;
    let events = pending;
    if (watcher.backlog.length > 0) {
      events = [...watcher.backlog, ...pending];
      watcher.backlog = [];
    }
    const first = events[0];
    if (first && first.revision <= watcher.after)
      events = events.filter((event) => event.revision > watcher.after);
    if (events.length > 0) this.#guard(() => watcher.watch.onEvents(events, this.#revision));
  }

  /** One watcher's mistake must not keep the events from the others. */
  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#log.error('a watcher of the cache failed', { error: errorMessage(error) });
    }
  }
}
