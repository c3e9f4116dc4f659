/** One piece of work in a trace, and what is known of it when it has ended. */
import type { TraceContext } from './trace-context.ts';

/** Data for whoever looks for the cause of a delay: never bodies, never queries, never secrets. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export type SpanKind = 'internal' | 'server' | 'client';

export interface FinishedSpan {
  /** The part of the cluster that did it, such as `apiserver`. */
  readonly service: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: TraceContext;
  /** The span within which it was done; absent for the first of a trace. */
  readonly parent?: string | undefined;
  /** A span of another trace that has to do with it. */
  readonly link?: TraceContext | undefined;
  /** Milliseconds since the Unix epoch, with fractions. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  /** Why it failed, in one line; absent when it did not. */
  readonly error?: string | undefined;
}

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** When it began, by the monotonic clock; default now. */
  readonly since?: number;
  readonly link?: TraceContext | undefined;
  /** It and what happened in it are forgotten at its end, unless `keep` was called. */
  readonly isTentative?: boolean;
}

export interface Span {
  readonly context: TraceContext;
  /** This one, or the nearest around it that has not ended. */
  readonly living: Span | undefined;
  /** Adds to its attributes. */
  set(attributes: Attributes): void;
  /** Says that it failed, and why. */
  fail(why: string): void;
  /** It is worth telling, and so are those that it is in. */
  keep(): void;
  /** A span within this one. */
  child(name: string, options?: SpanOptions): Span;
  /** At the moment `at` of the monotonic clock, default now; a second time does nothing. */
  end(at?: number): void;
}

export interface Tracer {
  /** The first span here of what happens within `parent`, or of a trace that begins here. */
  start(service: string, name: string, parent: TraceContext | undefined, options?: SpanOptions): Span;
  /**
   * The place in a trace that an object was written at, from its annotation. Undefined where that says nothing, is of a trace that is
   * not recorded, or was seen so long ago that what happens now has another cause.
   */
  follow(note: string | undefined): TraceContext | undefined;
}
