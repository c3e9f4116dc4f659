/**
 * The watchers of the cache, grouped by prefix: an event is put once into the queue of each group that wants it,
 * and a flush hands the same array to every watcher of the group. The first event after a pause goes out at once,
 * those that follow within `flushMs` together. Watchers are served in turns: after some milliseconds the event loop
 * turns, whatever is watched, and each watcher gets its events in order all the same.
 */
import type { Clock } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { CacheEvent, CacheWatch, EndWatch } from './cache.ts';

const flushMs = 2;
/** Milliseconds of work before the event loop turns. */
const turnMs = 8;
/** Events that a watcher is handed at once: a selector may have hundreds of terms and decode each object. */
const maxEvents = 64;
const maxBytes = 256 * 1024;
/** A watcher for which more events wait must list again, as one that joins so late. */
const maxWaiting = 20_000;

/** Events that were published together. */
interface Batch {
  readonly events: readonly CacheEvent[];
  /** Of the cache when it was published; undefined for what a watcher missed before it joined. */
  readonly revision: number | undefined;
}

interface Watcher {
  readonly watch: CacheWatch;
  readonly prefix: string;
  readonly group: Group;
  /** Events up to here are not wanted: the watcher has seen them, or they are in its first batch. */
  readonly after: number;
  /** All events up to here have been handed over. */
  delivered: number;
  readonly batches: Batch[];
  /** How many events of the first batch have been handed over. */
  next: number;
  waiting: number;
  state: 'open' | 'lost' | 'ended';
}

interface Group {
  readonly watchers: Set<Watcher>;
  pending: CacheEvent[];
}

export class Watchers {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #loopMeter: LoopMeter | undefined;
  readonly #groups = new Map<string, Group>();
  readonly #dirty = new Set<Group>();
  /** Watchers with events to be handed over, in the order of their turns. */
  readonly #ready = new Set<Watcher>();
  #revision = 0;
  #cooling = false;
  /** The turn of the event loop has been used up. */
  #isOver = false;
  #isScheduled = false;

  constructor(clock: Clock, log: Logger, loopMeter?: LoopMeter) {
    this.#clock = clock;
    this.#log = log;
    this.#loopMeter = loopMeter;
  }

  /**
   * `backlog` holds every event after `after` that the cache has applied so far. Throws RangeError for a prefix that is no
   * directory: events are found by theirs.
   */
  add(prefix: string, after: number, backlog: readonly CacheEvent[], watch: CacheWatch): EndWatch {
    if (!prefix.endsWith('/')) throw new RangeError(`a watch needs a prefix that ends in "/", not ${prefix}`);
    const group = this.#group(prefix);
    // What is pending is in the backlog as well.
    const seen = Math.max(after, backlog.at(-1)?.revision ?? 0);
    const watcher: Watcher = {
      watch,
      prefix,
      group,
      after: seen,
      delivered: after,
      batches: [],
      next: 0,
      waiting: 0,
      state: 'open',
    };
    group.watchers.add(watcher);
    if (backlog.length > 0) {
      this.#queue(watcher, { events: backlog, revision: undefined });
      this.#workSoon();
    }
    return Object.assign(() => this.#end(watcher), { handedOver: () => this.#handedOver(watcher) });
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

  /** Ends the watches for whose prefix `isLost` says so, after what they have not been handed yet. */
  expire(isLost: (prefix: string) => boolean): void {
    this.#seal();
    for (const [prefix, group] of [...this.#groups]) {
      if (isLost(prefix)) for (const watcher of [...group.watchers]) this.#lose(watcher);
    }
    this.#work();
  }

  /** The watcher gets no more events, and is told so after those that wait. */
  #lose(watcher: Watcher): void {
    this.#leave(watcher);
    watcher.state = 'lost';
    this.#ready.add(watcher);
  }

  #end(watcher: Watcher): void {
    watcher.state = 'ended';
    watcher.batches.length = 0;
    this.#ready.delete(watcher);
    this.#leave(watcher);
  }

  #group(prefix: string): Group {
    let group = this.#groups.get(prefix);
    if (!group) {
      group = { watchers: new Set(), pending: [] };
      this.#groups.set(prefix, group);
    }
    return group;
  }

  #leave(watcher: Watcher): void {
    const { group, prefix } = watcher;
    group.watchers.delete(watcher);
    if (group.watchers.size > 0 || this.#groups.get(prefix) !== group) return;
    this.#groups.delete(prefix);
    this.#dirty.delete(group);
  }

  #handedOver({ batches, group, delivered }: Watcher): number {
    const isBehind = batches.length > 0 || group.pending.length > 0;
    return isBehind ? delivered : Math.max(delivered, this.#revision);
  }

  *#groupsOf(key: string): Iterable<Group> {
    for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
      const group = this.#groups.get(key.slice(0, slash + 1));
      if (group) yield group;
    }
  }

  #flush(): void {
    this.#seal();
    this.#work();
    this.#cooling = true;
    this.#clock.after(flushMs, () => {
      this.#cooling = false;
      if (this.#dirty.size > 0) this.#flush();
    });
  }

  /** Gives what is pending to the watchers' own queues. */
  #seal(): void {
    for (const group of this.#dirty) {
      const batch: Batch = { events: group.pending, revision: this.#revision };
      group.pending = [];
      if (batch.events.length > 0) for (const watcher of [...group.watchers]) this.#queue(watcher, batch);
    }
    this.#dirty.clear();
  }

  #queue(watcher: Watcher, batch: Batch): void {
    const { events, revision } = batch;
    if (revision === undefined || (events[0]?.revision ?? 0) > watcher.after) {
      this.#wait(watcher, batch);
      return;
    }
    const wanted = events.filter((event) => event.revision > watcher.after);
    if (wanted.length > 0) this.#wait(watcher, { events: wanted, revision });
  }

  #wait(watcher: Watcher, batch: Batch): void {
    if (watcher.waiting + batch.events.length > maxWaiting && watcher.waiting > 0) {
      this.#log.warn('a watch was ended: its events come faster than they can be selected', {
        prefix: watcher.prefix,
        waiting: watcher.waiting,
      });
      watcher.batches.length = 0;
      this.#lose(watcher);
      return;
    }
    watcher.batches.push(batch);
    watcher.waiting += batch.events.length;
    this.#ready.add(watcher);
  }

  #workSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#clock.soon(() => {
      this.#isScheduled = false;
      this.#isOver = false;
      this.#work();
    });
  }

  /** Serves watchers until all have been served, or until it is somebody else's turn. */
  #work(): void {
    if (this.#isOver) return;
    const began = this.#clock.monotonic();
    for (const watcher of this.#ready) {
      this.#ready.delete(watcher);
      this.#handOver(watcher);
      // Behind the others.
      if (watcher.batches.length > 0 || watcher.state === 'lost') this.#ready.add(watcher);
      if (this.#ready.size === 0 || this.#clock.monotonic() - began < turnMs) continue;
      this.#isOver = true;
      this.#workSoon();
      return;
    }
  }

  /** Calls a watcher with the next of its events. */
  #handOver(watcher: Watcher): void {
    const [batch] = watcher.batches;
    if (!batch) {
      const isLost = watcher.state === 'lost';
      watcher.state = 'ended';
      if (isLost) this.#guard(() => watcher.watch.onExpired());
      return;
    }
    const { events } = batch;
    const end = endOf(events, watcher.next);
    const part = watcher.next === 0 && end === events.length ? events : events.slice(watcher.next, end);
    const isAll = end === events.length;
    if (isAll) watcher.batches.shift();
    watcher.next = isAll ? 0 : end;
    watcher.waiting -= part.length;
    const last = part.at(-1)?.revision ?? watcher.delivered;
    watcher.delivered = isAll ? (batch.revision ?? last) : Math.max(watcher.delivered, last - 1);
    this.#loopMeter?.mark({
      kind: 'watch',
      describe: () => ({ prefix: watcher.prefix, key: part.at(-1)?.key, eventCount: part.length }),
    });
    this.#guard(() => watcher.watch.onEvents(part, watcher.delivered));
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

/** The end of the part that is handed over at once: few events, and few bytes unless it is one event. */
function endOf(events: readonly CacheEvent[], from: number): number {
  const most = Math.min(events.length, from + maxEvents);
  let bytes = 0;
  for (let at = from; at < most; at++) {
    bytes += events[at]?.frame.length ?? 0;
    if (bytes > maxBytes && at > from) return at;
  }
  return most;
}
