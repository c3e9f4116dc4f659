/** Makes spans, and decides which traces that begin here are recorded. Of others spans know no more than their place. */
import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import type { Random } from '../random.ts';
import type { Attributes, FinishedSpan, Span, SpanOptions, Tracer } from './span.ts';
import { isSampled, newSpanId, newTraceId, parseTraceparent, type TraceContext } from './trace-context.ts';

export interface TracerOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly random: Random;
  /** Of the traces that begin here so many are recorded, from 0 to 1. */
  readonly rate: number;
  /** Takes each span that has ended, and is recorded. */
  readonly take: (span: FinishedSpan) => void;
}

/** Milliseconds for which an object's annotation is followed after it was first seen. */
const followedMs = 10 * 60_000;
/** How many annotations are remembered; one that is forgotten counts as new. */
const notes = 10_000;
/** Spans within one that may be forgotten; more are, too. */
const mostHeld = 256;
/** Characters of a text in a span. */
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
  /** The moment at which the monotonic clock was at 0, the same for all of a trace here. */
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
  /** What happened within, while it is not known whether that is told; undefined once it is. */
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
    const told = { context: this.context, attributes: shortened(this.#attributes), error: this.#error };
    this.#means.take({ service, name: this.#name, kind, parent, link, from, to, ...told });
  }

  #take(span: FinishedSpan): void {
    if (!this.#held) this.#means.take(span);
    else if (!this.#ended && this.#held.length < mostHeld) this.#held.push(span);
  }
}

/** Without halves of a character: a collector may refuse all spans of a request with one (they are not UTF-8). */
const short = (text: string) => text.slice(0, longest).toWellFormed();

const shortened = (attributes: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, typeof value === 'string' ? short(value) : value]),
  );
