/**
 * Spans on their way to whoever collects them: so many wait at most, and are sent together, one request at a time. Whoever ends a span
 * never waits. What has no room, or is refused, is dropped, counted, and told once a minute.
 */
import { unlessAborted } from '../abort.ts';
import type { Clock, Timer } from '../clock.ts';
import { errorMessage, type Logger } from '../log.ts';
import type { FinishedSpan } from './span.ts';

/** How many of them the collector will never take, and why. */
export interface Refused {
  readonly count: number;
  readonly why: string;
}

/** Rejects where the collector may take all of them later. */
export type SendSpans = (spans: readonly FinishedSpan[], signal: AbortSignal) => Promise<Refused>;

export interface SpanQueueOptions {
  readonly send: SendSpans;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default 2048. */
  readonly most?: number;
  /** Default 512. */
  readonly atOnce?: number;
}

/** Milliseconds, as the rest. Spans that end at about the same time are sent together. */
const gatherMs = 1_000;
const requestMs = 10_000;
const longestPauseMs = 30_000;
const tellMs = 60_000;

export class SpanQueue {
  readonly #options: Required<SpanQueueOptions>;
  readonly #spans: FinishedSpan[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  #pauseMs = gatherMs;
  #isClosed = false;
  readonly #stop = new AbortController();
  #dropped = 0;
  #untold = 0;
  /** Why the last of them were dropped, and why the collector cannot be reached now. */
  #why = '';
  #trouble = '';
  #telling: Timer | undefined;

  constructor(options: SpanQueueOptions) {
    this.#options = { most: 2048, atOnce: 512, ...options };
  }

  /** How many were dropped since the beginning. */
  get dropped(): number {
    return this.#dropped;
  }

  add(span: FinishedSpan): void {
    if (this.#isClosed || this.#spans.length >= this.#options.most) {
      this.#drop(1, this.#trouble || 'more spans ended than could be sent');
      return;
    }
    this.#spans.push(span);
    if (!this.#sending) this.#wait();
  }

  /** Sends what waits, for `ms` at most; what is left then is dropped. */
  async close(ms: number): Promise<void> {
    const { clock } = this.#options;
    this.#timer?.cancel();
    const timer = clock.after(ms, () => this.#stop.abort(new Error(`not sent within ${ms} ms`)));
    await this.#sending;
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#sendAll();
    timer.cancel();
    this.#telling?.cancel();
    this.#drop(this.#spans.splice(0).length, this.#trouble);
    this.#tell();
  }

  #begin(): void {
    this.#timer = undefined;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#spans.length > 0) this.#wait();
    });
  }

  #wait(): void {
    if (!this.#isClosed) this.#timer ??= this.#options.clock.after(this.#pauseMs, () => this.#begin());
  }

  /** Until none waits, or the collector is away. */
  async #sendAll(): Promise<void> {
    try {
      while (this.#spans.length > 0) await this.#sendSome();
    } catch (error) {
      this.#trouble = errorMessage(error);
      this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    }
  }

  async #sendSome(): Promise<void> {
    const { send, atOnce, clock } = this.#options;
    const some = this.#spans.slice(0, atOnce);
    const late = new AbortController();
    const silent = new Error(`no answer within ${requestMs / 1000} s`);
    const timer = clock.after(requestMs, () => late.abort(silent));
    const signal = AbortSignal.any([late.signal, this.#stop.signal]);
    try {
      const { count, why } = await unlessAborted(signal, send(some, signal));
      this.#trouble = '';
      this.#pauseMs = gatherMs;
      this.#spans.splice(0, some.length);
      this.#drop(Math.min(count, some.length), why);
    } finally {
      timer.cancel();
    }
  }

  #drop(count: number, why: string): void {
    if (count === 0) return;
    this.#dropped += count;
    this.#untold += count;
    this.#why = why;
    const { clock } = this.#options;
    if (!this.#isClosed) this.#telling ??= clock.after(tellMs, () => this.#tell());
  }

  #tell(): void {
    this.#telling = undefined;
    if (this.#untold === 0) return;
    this.#options.log.warn('spans of traces were dropped', {
      dropped: this.#untold,
      why: this.#trouble || this.#why,
    });
    this.#untold = 0;
  }
}
