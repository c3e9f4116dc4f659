/**
 * The body of a watch. The existing objects are sent first, in pieces, then events as they occur; events that
 * occur meanwhile are queued. When the watch ends it releases its timers, listeners and place in the cache. A
 * server has several watches per node, so a waiting watch holds little memory.
 */
import { newExpired, StatusError } from '../../apimachinery/status-error.ts';
import { onAbort } from '../../base/abort.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Cache, CachedObject, EndWatch } from '../../storage/cache.ts';
import { CompactedError } from '../../storage/store.ts';
import { type Framing, frameOf } from '../encoding/framing.ts';
import type { WatchedSelection } from '../load/watch-selections.ts';
import type { Selection } from '../reads/selection.ts';
import type { Sink, Source } from '../transport/pushed-body.ts';
import { Turn, type Turns } from '../turns.ts';
import type { VersionReader } from '../versions/version-reader.ts';
import { watchVersion } from '../versions/version-watch.ts';
import type { WriteTurns } from '../write-turns.ts';

export interface WatchPlan {
  readonly cache: Cache;
  readonly versionReader: VersionReader;
  readonly clock: Clock;
  readonly log: Logger;
  readonly turns: Turns;
  readonly writeTurns: WriteTurns;
  readonly selection: Selection;
  /** Counts the selection while the watch is open. */
  readonly enter: () => WatchedSelection;
  readonly framing: Framing;
  /** Events after this revision are sent. */
  readonly after: number;
  /** Ends the initial objects with the bookmark that WatchList clients wait for. */
  readonly marksInitialEnd: boolean;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
  /** Ends the watch. The sink detects a client that disconnects. */
  readonly shutdown: AbortSignal | undefined;
  /** Ends the watch because the kind is no longer served. */
  readonly removal?: AbortSignal | undefined;
}

const bookmarkMs = 60_000;
/**
 * Time between the last bookmark and the end of the watch, so that the client can continue from the bookmark.
 */
const lastBookmarkMs = 2000;
/**
 * Small frames are sent together, larger ones unchanged: they are one buffer for all watches. For as long as
 * a connection lasts, TLS keeps a buffer as large as the most that was ever queued on it.
 */
const pieceBytes = 16 * 1024;
/**
 * Maximum number of bytes that one client has not read. A client with more is disconnected and continues
 * after the last event that it received.
 */
const maxBacklogBytes = 8 * 1024 * 1024;
/** Time within which a client must read a part of its queued data. */
const readingMs = 30_000;
/**
 * Part of the queued data that a client must read within that time. A client that does not read, or hardly
 * reads, is disconnected.
 */
const readPart = 1 / 4;
const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' };

/** `initial` is sent as ADDED before any event: the state at `plan.after`. */
export const watchSource = (plan: WatchPlan, initial: readonly CachedObject[]): Source =>
  new WatchSource(plan, initial);

class WatchSource implements Source {
  readonly #plan: WatchPlan;
  /** Objects that are still to be sent; undefined once all have been. */
  #initial: readonly CachedObject[] | undefined;
  /** Frames that arrived while the initial objects are being sent, or that wait for their turn. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Revision up to which every event has been sent or queued. */
  #delivered: number;
  #sink: Sink | undefined;
  #unwatch: EndWatch = notWatched;
  #unlink = () => {};
  #leave = () => {};
  /** The next time at which a bookmark or the end is due. */
  #timer: Timer | undefined;
  /** Runs while the client has not read everything. */
  #reading: Timer | undefined;
  #writtenBytes = 0;
  #endsAt = 0;

  constructor(plan: WatchPlan, initial: readonly CachedObject[]) {
    this.#plan = plan;
    this.#initial = initial;
    this.#delivered = plan.after;
  }

  begin(sink: Sink): void {
    const { shutdown, removal, clock, timeoutMs } = this.#plan;
    this.#sink = sink;
    if (shutdown) this.#unlink = onAbort(shutdown, () => this.#end());
    if (removal) this.#endWith(removal);
    if (this.#sink) this.#subscribe();
    if (!this.#sink) return;
    this.#endsAt = clock.now() + timeoutMs;
    this.#wait();
    if (this.#initial?.length === 0) this.#goLive();
    else this.#sendInitial(this.#initial ?? []).catch((error) => this.#fail(error));
  }

  #endWith(removal: AbortSignal): void {
    const unlinkShutdown = this.#unlink;
    const unlinkRemoval = onAbort(removal, () => this.#end());
    this.#unlink = () => {
      unlinkShutdown();
      unlinkRemoval();
    };
  }

  cancel(): void {
    this.#release();
  }

  async #sendInitial(initial: readonly CachedObject[]): Promise<void> {
    const { framing, turns } = this.#plan;
    for (let sent = 0; sent < initial.length; ) {
      await this.#sink?.room();
      await turns.next();
      if (!this.#sink) return;
      const frames: Buffer[] = [];
      const turn = new Turn();
      for (let over = false; !over && sent < initial.length; sent++) {
        const object = initial[sent];
        if (!object) continue;
        const frame = framing.frame('ADDED', object, object.revision);
        frames.push(frame);
        over = turn.took(Math.max(frame.length, object.bytes.length));
      }
      this.#write(frames);
    }
    this.#goLive();
  }

  #fail(error: unknown): void {
    this.#plan.log.error('a watch was closed: its objects could not be sent', { error: errorMessage(error) });
    this.#end();
  }

  #subscribe(): void {
    const { enter, after } = this.#plan;
    const { selection, leave } = enter();
    this.#leave = leave;
    const { definition, prefix, key, readsObjects: withPrevious } = selection;
    try {
      this.#unwatch = watchVersion(
        this.#plan,
        { definition, prefix, key, withPrevious, after },
        {
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
          onFailed: (error) => this.#endWithError(error),
        },
      );
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      this.#expire(after);
    }
  }

  /** The events since `revision` are not available: the client must list again. */
  #expire(revision: number): void {
    if (!this.#initial) this.#flush();
    const message = `too old resource version: ${revision} (${this.#plan.cache.revision})`;
    this.#write([this.#plan.framing.error(newExpired(message).status)]);
    this.#end();
  }

  /** An event cannot be converted. */
  #endWithError(error: unknown): void {
    if (!(error instanceof StatusError)) {
      this.#fail(error);
      return;
    }
    if (!this.#initial) this.#flush();
    this.#write([this.#plan.framing.error(error.status)]);
    this.#end();
  }

  #goLive(): void {
    this.#initial = undefined;
    if (this.#plan.marksInitialEnd) {
      this.#write([this.#plan.framing.bookmark(this.#plan.after, initialEventsEnd)]);
    }
    this.#flush();
  }

  #send(frames: readonly Buffer[]): void {
    if (frames.length === 0 || this.#isTooSlow()) return;
    const { writeTurns } = this.#plan;
    const mustWait = this.#initial !== undefined || this.#waiting.length > 0;
    if (!mustWait && writeTurns.mayWrite(bytesOf(frames))) {
      this.#write(frames);
      return;
    }
    if (!mustWait) writeTurns.wait(this.#flush);
    for (const frame of frames) this.#waiting.push(frame);
    this.#waitingBytes += bytesOf(frames);
  }

  readonly #flush = (): number => {
    const [frames, bytes] = [this.#waiting, this.#waitingBytes];
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#write(frames);
    return bytes;
  };

  #write(frames: readonly Buffer[]): void {
    for (const piece of piecesOf(frames)) {
      this.#sink?.write(piece);
      this.#writtenBytes += piece.length;
    }
    if (!this.#reading) this.#expectReading();
  }

  #expectReading(): void {
    this.#reading = undefined;
    const before = this.#unread;
    if (!this.#sink || before === 0) return;
    const written = this.#writtenBytes;
    this.#reading = this.#plan.clock.after(readingMs, () => {
      const read = before + (this.#writtenBytes - written) - this.#unread;
      if (read < before * readPart) this.#cut();
      else this.#expectReading();
    });
  }

  get #unread(): number {
    return this.#sink?.backlog ?? 0;
  }

  /**
   * Counts what the client left unread before these events, so that one large burst does not disconnect it.
   */
  #isTooSlow(): boolean {
    if (this.#waitingBytes + this.#unread <= maxBacklogBytes) return false;
    this.#cut();
    return true;
  }

  #cut(): void {
    this.#plan.log.warn('a watch was closed: its client reads too slowly', {
      prefix: this.#plan.selection.prefix,
      unreadBytes: this.#waitingBytes + this.#unread,
    });
    const sink = this.#sink;
    this.#release();
    sink?.cut();
  }

  /** Sets the timer until the next bookmark or the end of the watch. */
  #wait(): void {
    const { clock, bookmarks } = this.#plan;
    const left = Math.max(0, this.#endsAt - clock.now());
    const last = left - lastBookmarkMs;
    this.#timer =
      bookmarks && last > 0
        ? clock.after(Math.min(bookmarkMs, last), () => this.#bookmark())
        : clock.after(left, () => this.#end());
  }

  /**
   * Sends a bookmark after the events that it covers, including events that the cache has applied but not
   * delivered yet.
   */
  #bookmark(): void {
    this.#delivered = Math.max(this.#delivered, this.#unwatch.handedOver());
    if (!this.#initial) this.#send([this.#plan.framing.bookmark(this.#delivered)]);
    // The watch may have been cut off by the bookmark.
    if (this.#sink) this.#wait();
  }

  #end(): void {
    if (!this.#initial) this.#flush();
    const sink = this.#sink;
    this.#release();
    sink?.end();
  }

  #release(): void {
    this.#sink = undefined;
    this.#unwatch();
    this.#leave();
    this.#leave = () => {};
    this.#unlink();
    this.#timer?.cancel();
    this.#reading?.cancel();
    this.#plan.writeTurns.leave(this.#flush);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#initial = undefined;
  }
}

const notWatched: EndWatch = Object.assign(() => {}, { handedOver: () => 0 });

const bytesOf = (frames: readonly Buffer[]) => frames.reduce((sum, { length }) => sum + length, 0);

/** Yields the same bytes in the same order, in few pieces. */
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
