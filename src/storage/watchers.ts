/**
 * The watchers of the cache, grouped by prefix: an event is put once into the queue of each matching group,
 * and a flush passes the same array to every watcher of the group. The first event after a pause is delivered
 * at once, those that follow within `flushMs` together. Watchers are served in turns: after some milliseconds
 * the event loop continues, and each watcher still gets its events in order.
 */
import type { Clock } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { CacheEvent, CacheWatch, EndWatch } from './cache.ts';

const flushMs = 2;
/** Milliseconds of work before the event loop continues. */
const turnMs = 8;
/**
 * Maximum number of events delivered at once: a selector may have hundreds of terms and decode each object.
 */
const maxEvents = 64;
const maxBytes = 256 * 1024;
/** Maximum number of queued events of a watcher; beyond it the watcher must list again. */
const maxWaiting = 20_000;

/** Events that were published together. */
interface Batch {
  readonly events: readonly CacheEvent[];
  /**
   * Revision of the cache when the batch was published; undefined for a backlog from before the watcher
   * joined.
   */
  readonly revision: number | undefined;
}

interface Watcher {
  readonly watch: CacheWatch;
  readonly prefix: string;
  readonly group: Group;
  /** Events up to this revision are ignored: the watcher has seen them, or they are in its first batch. */
  readonly after: number;
  /** Revision up to which all events have been delivered. */
  delivered: number;
  readonly batches: Batch[];
  /** Number of delivered events of the first batch. */
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
  /** Watchers with events to deliver, in the order of their turns. */
  readonly #ready = new Set<Watcher>();
  #revision = 0;
  #cooling = false;
  /** True if the turn of the event loop is used up. */
  #isOver = false;
  #isScheduled = false;

  constructor(clock: Clock, log: Logger, loopMeter?: LoopMeter) {
    this.#clock = clock;
    this.#log = log;
    this.#loopMeter = loopMeter;
  }

  /**
   * Adds a watcher. `backlog` contains every event after `after` that the cache has applied so far. Throws
   * RangeError for a prefix that is no directory, because events are found by their directories.
   */
  add(prefix: string, after: number, backlog: readonly CacheEvent[], watch: CacheWatch): EndWatch {
    if (!prefix.endsWith('/')) throw new RangeError(`a watch needs a prefix that ends in "/", not ${prefix}`);
    const group = this.#group(prefix);
    // Pending events are in the backlog as well.
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

  /** Expires the watches for whose prefix `isLost` returns true, after their queued events. */
  expire(isLost: (prefix: string) => boolean): void {
    this.#seal();
    for (const [prefix, group] of [...this.#groups]) {
      if (isLost(prefix)) for (const watcher of [...group.watchers]) this.#lose(watcher);
    }
    this.#work();
  }

  /** Adds no more events to the watcher, and expires it after its queued events. */
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

  /** Moves pending events to the watchers' own queues. */
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

  /** Serves watchers until all have been served, or until the turn is used up. */
  #work(): void {
    if (this.#isOver) return;
    const began = this.#clock.monotonic();
    for (const watcher of this.#ready) {
      this.#ready.delete(watcher);
      this.#handOver(watcher);
      // The watcher moves behind the others in the queue.
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

  /** Runs a watcher's function. Its error must not keep the events from other watchers. */
  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#log.error('a watcher of the cache failed', { error: errorMessage(error) });
    }
  }
}

/**
 * Returns the end of the part that is delivered at once: few events, and few bytes unless it is one event.
 */
function endOf(events: readonly CacheEvent[], from: number): number {
  const most = Math.min(events.length, from + maxEvents);
  let bytes = 0;
  for (let at = from; at < most; at++) {
    bytes += events[at]?.frame.length ?? 0;
    if (bytes > maxBytes && at > from) return at;
  }
  return most;
}
