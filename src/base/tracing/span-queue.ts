/**
 * Queue of spans for a collector. It has a maximum length; spans are sent in batches, one request at a time.
 * Ending a span never blocks. Spans that do not fit or are rejected are dropped and counted; the count is
 * logged once a minute.
 */
import { unlessAborted } from '../abort.ts';
import { backoffMs } from '../backoff.ts';
import type { Clock, Timer } from '../clock.ts';
import { errorMessage, type Logger } from '../log.ts';
import type { FinishedSpan } from './span.ts';

/** Number of spans that the collector has permanently rejected, and the reason. */
export interface Refused {
  readonly count: number;
  readonly why: string;
}

/** Sends spans; rejects if the collector may accept all of them later. */
export type SendSpans = (spans: readonly FinishedSpan[], signal: AbortSignal) => Promise<Refused>;

export interface SpanQueueOptions {
  readonly send: SendSpans;
  readonly clock: Clock;
  readonly log: Logger;
  /** Maximum length of the queue; default 2048. */
  readonly most?: number;
  /** Maximum spans of a request; default 512. */
  readonly atOnce?: number;
}

/**
 * Pauses before requests. The first one follows no failure: spans that end at about the same time are sent
 * together.
 */
const backoff = { initialMs: 1_000, maxMs: 30_000 };
/** Timeout of a request in milliseconds, and the interval at which drops are logged. */
const requestMs = 10_000;
const reportMs = 60_000;

export class SpanQueue {
  readonly #options: Required<SpanQueueOptions>;
  readonly #spans: FinishedSpan[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  /** Number of failed requests since the last one that succeeded. */
  #failures = 0;
  #isClosed = false;
  readonly #stop = new AbortController();
  #dropped = 0;
  #unreported = 0;
  /** Reason for the last drops; `#trouble` is the reason why the collector is unreachable now. */
  #why = '';
  #trouble = '';
  #reporting: Timer | undefined;

  constructor(options: SpanQueueOptions) {
    this.#options = { most: 2048, atOnce: 512, ...options };
  }

  /** The number of spans dropped since the start. */
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

  /** Sends the waiting spans, for at most `ms`; the rest is then dropped. */
  async close(ms: number): Promise<void> {
    const { clock } = this.#options;
    this.#timer?.cancel();
    const timer = clock.after(ms, () => this.#stop.abort(new Error(`not sent within ${ms} ms`)));
    await this.#sending;
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#sendAll();
    timer.cancel();
    this.#reporting?.cancel();
    this.#drop(this.#spans.splice(0).length, this.#trouble);
    this.#report();
  }

  #begin(): void {
    this.#timer = undefined;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#spans.length > 0) this.#wait();
    });
  }

  #wait(): void {
    const ms = backoffMs(backoff, this.#failures + 1);
    if (!this.#isClosed) this.#timer ??= this.#options.clock.after(ms, () => this.#begin());
  }

  /** Sends until the queue is empty or the collector is unreachable. */
  async #sendAll(): Promise<void> {
    try {
      while (this.#spans.length > 0) await this.#sendSome();
    } catch (error) {
      this.#trouble = errorMessage(error);
      this.#failures++;
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
      this.#failures = 0;
      this.#spans.splice(0, some.length);
      this.#drop(Math.min(count, some.length), why);
    } finally {
      timer.cancel();
    }
  }

  #drop(count: number, why: string): void {
    if (count === 0) return;
    this.#dropped += count;
    this.#unreported += count;
    this.#why = why;
    const { clock } = this.#options;
    if (!this.#isClosed) this.#reporting ??= clock.after(reportMs, () => this.#report());
  }

  #report(): void {
    this.#reporting = undefined;
    if (this.#unreported === 0) return;
    this.#options.log.warn('spans of traces were dropped', {
      dropped: this.#unreported,
      why: this.#trouble || this.#why,
    });
    this.#unreported = 0;
  }
}
