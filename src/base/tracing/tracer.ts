/**
 * Creates spans and decides which of the traces beginning here are recorded. Spans of other traces have only
 * their context.
 */
import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import type { Random } from '../random.ts';
import type { Attributes, FinishedSpan, Span, SpanOptions, Tracer } from './span.ts';
import { isSampled, newSpanId, newTraceId, parseTraceparent, type TraceContext } from './trace-context.ts';

export interface TracerOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly random: Random;
  /** Fraction of the traces beginning here that are recorded, from 0 to 1. */
  readonly rate: number;
  /** Receives each recorded span when it has ended. */
  readonly take: (span: FinishedSpan) => void;
}

/** Milliseconds for which an object's annotation is followed after it was first seen. */
const followedMs = 10 * 60_000;
/** Maximum number of annotations that are remembered; one that was dropped counts as new. */
const notes = 10_000;
/** Maximum spans held within a tentative span; further ones are discarded. */
const maxHeld = 256;
/** Maximum characters of a text in a span. */
const longest = 256;

export function createTracer({ clock, random, rate, take }: TracerOptions): Tracer {
  const seen = new BoundedMap<number>(notes);
  return {
    start(service, name, parent, options = {}) {
      const traceId = parent?.traceId ?? newTraceId(random);
      const sampled = parent?.sampled ?? isSampled(traceId, rate);
      const wall = clock.now() - clock.monotonic();
      const place = { service, parent: parent?.spanId, traceId, sampled, wall };
      return new RecordedSpan({ clock, random, take }, name, place, options);
    },

    follow(note) {
      const context = parseTraceparent(note);
      if (!note || !context?.sampled) return undefined;
      const now = clock.monotonic();
      const since = seen.get(note) ?? now;
      seen.set(note, since);
      return now - since < followedMs ? context : undefined;
    },
  };
}

type Means = Pick<TracerOptions, 'clock' | 'random' | 'take'>;

interface Place {
  readonly service: string;
  readonly parent: string | undefined;
  readonly traceId: string;
  readonly sampled: boolean;
  /**
   * Wall-clock time at which the monotonic clock was at 0; the same for all spans of a trace in this process.
   */
  readonly wall: number;
  readonly within?: Span;
}

class RecordedSpan implements Span {
  readonly context: TraceContext;
  readonly #means: Means;
  readonly #name: string;
  readonly #place: Place;
  readonly #options: SpanOptions;
  readonly #since: number;
  #attributes: Attributes;
  #error: string | undefined;
  #ended = false;
  /** Ended inner spans while the span is tentative; undefined once it is kept. */
  #held: FinishedSpan[] | undefined;

  constructor(means: Means, name: string, place: Place, options: SpanOptions) {
    this.context = { traceId: place.traceId, spanId: newSpanId(means.random), sampled: place.sampled };
    this.#means = means;
    this.#name = short(name);
    this.#place = place;
    this.#options = options;
    this.#since = options.since ?? means.clock.monotonic();
    this.#attributes = options.attributes ?? {};
    this.#held = options.isTentative ? [] : undefined;
  }

  get living(): Span | undefined {
    return this.#ended ? this.#place.within?.living : this;
  }

  set(attributes: Attributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  fail(why: string): void {
    this.#error ??= short(why);
  }

  keep(): void {
    if (this.#ended) return;
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const span of held) this.#means.take(span);
    this.#place.within?.keep();
  }

  child(name: string, options: SpanOptions = {}): Span {
    const place = { ...this.#place, parent: this.context.spanId, within: this };
    return new RecordedSpan({ ...this.#means, take: (span) => this.#take(span) }, name, place, options);
  }

  end(at = this.#means.clock.monotonic()): void {
    if (this.#ended) return;
    this.#ended = true;
    const { service, parent, sampled, wall } = this.#place;
    if (!sampled || this.#held) return;
    const { kind = 'internal', link } = this.#options;
    const [from, to] = [wall + this.#since, wall + Math.max(at, this.#since)];
    const details = { context: this.context, attributes: shortened(this.#attributes), error: this.#error };
    this.#means.take({ service, name: this.#name, kind, parent, link, from, to, ...details });
  }

  #take(span: FinishedSpan): void {
    if (!this.#held) this.#means.take(span);
    else if (!this.#ended && this.#held.length < maxHeld) this.#held.push(span);
  }
}

/**
 * Returns a short text without halves of surrogate pairs: they are not valid UTF-8, and a collector may
 * reject all spans of a request for one.
 */
const short = (text: string) => text.slice(0, longest).toWellFormed();

const shortened = (attributes: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, typeof value === 'string' ? short(value) : value]),
  );
