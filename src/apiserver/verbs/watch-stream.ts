/**
 * The body of a watch. First the objects there are, in pieces, then events as they come; events that arrive
 * meanwhile wait. It ends once, and then holds nothing: no timer, no listener, no place in the cache.
 */
import type { ReadableStreamDefaultController, UnderlyingDefaultSource } from 'node:stream/web';
import { setImmediate } from 'node:timers/promises';
import { newExpired } from '../../apimachinery/status-error.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Cache, CachedObject } from '../../storage/cache.ts';
import { CompactedError } from '../../storage/store.ts';
import type { Selection } from '../selection.ts';
import { errorFrame, type Framing, frameOf } from './watch-frames.ts';

export interface WatchPlan {
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Logger;
  readonly selection: Selection;
  readonly framing: Framing;
  /** Events after this revision are sent. */
  readonly after: number;
  /** Sent as ADDED before any event; they are the state at `after`. */
  readonly initial: readonly CachedObject[];
  /** Ends the initial objects with the bookmark that WatchList clients wait for. */
  readonly marksInitialEnd: boolean;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
  /** Any of them ends the watch. */
  readonly signals: readonly AbortSignal[];
}

const bookmarkMs = 60_000;
/** The last bookmark comes this long before the end, so that the client can go on from it. */
const lastBookmarkMs = 2000;
/** Longer than the cache collects events before it hands them out. */
const settleMs = 50;
/**
 * Small frames go out together, larger ones as they are: those are one buffer for all watches, and TLS keeps for as long as
 * a connection lasts a buffer as large as the most that ever waited on it.
 */
const pieceBytes = 16 * 1024;
/** Of the initial objects at a time, before others have their turn. */
const turnBytes = 64 * 1024;
/** What may wait for one client to read; a slower one is cut off and lists again. */
const maxBacklogBytes = 16 * 1024 * 1024;
const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' };

export function openWatch(plan: WatchPlan): ReadableStream<Uint8Array> {
  const source = new WatchSource(plan);
  return new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 }));
}

class WatchSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #plan: WatchPlan;
  readonly #ended = new AbortController();
  readonly #timers = new Set<Timer>();
  /** Frames that came while the initial objects are still being sent. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #initialSent = 0;
  #live = false;
  /** Every event up to here has been sent or waits to be. */
  #delivered: number;
  #unwatch = () => {};
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(plan: WatchPlan) {
    this.#plan = plan;
    this.#delivered = plan.after;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { signals, bookmarks, timeoutMs } = this.#plan;
    this.#controller = controller;
    if (signals.some(({ aborted }) => aborted)) {
      this.#end();
      return;
    }
    for (const signal of signals) {
      signal.addEventListener('abort', () => this.#end(), { signal: this.#ended.signal });
    }
    this.#subscribe();
    if (this.#ended.signal.aborted) return;
    this.#after(timeoutMs, () => this.#end());
    if (bookmarks) {
      this.#everyMinute();
      if (timeoutMs > lastBookmarkMs) this.#after(timeoutMs - lastBookmarkMs, () => this.#bookmark());
    }
    if (this.#plan.initial.length === 0) this.#goLive();
  }

  /** Called while the client has room; sends the next piece of the initial objects. */
  async pull(): Promise<void> {
    if (this.#live || this.#ended.signal.aborted) return;
    const { initial, framing } = this.#plan;
    const frames: Buffer[] = [];
    for (let size = 0; size < turnBytes && this.#initialSent < initial.length; this.#initialSent++) {
      const object = initial[this.#initialSent];
      if (!object) continue;
      const frame = framing.frame('ADDED', object, object.revision);
      frames.push(frame);
      size += frame.length;
    }
    this.#enqueue(frames);
    if (this.#initialSent === initial.length) this.#goLive();
    else await setImmediate();
  }

  cancel(): void {
    this.#end();
  }

  #subscribe(): void {
    const { cache, selection, after } = this.#plan;
    try {
      this.#unwatch = cache.watch(selection.prefix, after, {
        onEvents: (events, revision) => {
          const frames: Buffer[] = [];
          for (const event of events) {
            const frame = frameOf(event, selection, this.#plan.framing);
            if (frame) frames.push(frame);
          }
          this.#delivered = revision;
          this.#send(frames);
        },
        onExpired: () => this.#expire(this.#delivered),
      });
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      this.#expire(after);
    }
  }

  /** The client can not be told what happened since `revision`: it must list again. */
  #expire(revision: number): void {
    const message = `too old resource version: ${revision} (${this.#plan.cache.revision})`;
    this.#enqueue([errorFrame(newExpired(message).status)]);
    this.#end();
  }

  #goLive(): void {
    this.#live = true;
    if (this.#plan.marksInitialEnd) {
      this.#enqueue([this.#plan.framing.bookmark(this.#plan.after, initialEventsEnd)]);
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#enqueue(waiting);
  }

  #send(frames: readonly Buffer[]): void {
    if (frames.length === 0 || this.#isTooSlow()) return;
    if (this.#live) {
      this.#enqueue(frames);
      return;
    }
    for (const frame of frames) {
      this.#waiting.push(frame);
      this.#waitingBytes += frame.length;
    }
  }

  #enqueue(frames: readonly Buffer[]): void {
    if (this.#ended.signal.aborted) return;
    for (const piece of piecesOf(frames)) this.#controller?.enqueue(piece);
  }

  /** Judged by what the client left unread before these events, so that one large burst is no fault of its own. */
  #isTooSlow(): boolean {
    const backlog = this.#waitingBytes - (this.#controller?.desiredSize ?? 0);
    if (backlog <= maxBacklogBytes) return false;
    this.#plan.log.warn('a watch was ended: its client reads too slowly', {
      prefix: this.#plan.selection.prefix,
      backlogBytes: backlog,
    });
    this.#end();
    return true;
  }

  /** Events the cache has applied but not handed out yet come before the bookmark that covers them. */
  #bookmark(): void {
    const { revision } = this.#plan.cache;
    this.#after(settleMs, () => {
      this.#delivered = Math.max(this.#delivered, revision);
      if (this.#live) this.#enqueue([this.#plan.framing.bookmark(this.#delivered)]);
    });
  }

  #everyMinute(): void {
    this.#after(bookmarkMs, () => {
      this.#bookmark();
      this.#everyMinute();
    });
  }

  #after(ms: number, fn: () => void): void {
    if (this.#ended.signal.aborted) return;
    const timer = this.#plan.clock.after(ms, () => {
      this.#timers.delete(timer);
      fn();
    });
    this.#timers.add(timer);
  }

  #end(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#unwatch();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#waiting = [];
    // A cancelled stream is closed already, and desiredSize says so.
    if (this.#controller && this.#controller.desiredSize !== null) {
      try {
        this.#controller.close();
      } catch (error) {
        this.#plan.log.debug('the body of a watch was closed before its end', { error: String(error) });
      }
    }
  }
}

/** The same bytes in the same order, in few pieces. */
function* piecesOf(frames: readonly Buffer[]): Generator<Buffer> {
  let piece: Buffer[] = [];
  let size = 0;
  for (const frame of frames) {
    if (size > 0 && size + frame.length > pieceBytes) {
      yield joined(piece);
      [piece, size] = [[], 0];
    }
    piece.push(frame);
    size += frame.length;
  }
  if (size > 0) yield joined(piece);
}

const joined = (frames: readonly Buffer[]): Buffer =>
  frames.length === 1 && frames[0] ? frames[0] : Buffer.concat(frames);
