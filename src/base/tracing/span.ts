/** A piece of work in a trace, and its data when it has ended. */
import type { TraceContext } from './trace-context.ts';

/** Data for finding the cause of a delay: never bodies, never queries, never secrets. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export type SpanKind = 'internal' | 'server' | 'client';

export interface FinishedSpan {
  /** Part of the cluster that did the work, such as `apiserver`. */
  readonly service: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: TraceContext;
  /** Id of the enclosing span; absent for the first span of a trace. */
  readonly parent?: string | undefined;
  /** A related span of another trace. */
  readonly link?: TraceContext | undefined;
  /** Milliseconds since the Unix epoch, with fractions. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  /** Reason of the failure, in one line; absent on success. */
  readonly error?: string | undefined;
}

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** Time of the start, by the monotonic clock; default: now. */
  readonly since?: number;
  readonly link?: TraceContext | undefined;
  /** If true, the span and those in it are discarded at its end, unless `keep` was called. */
  readonly isTentative?: boolean;
}

export interface Span {
  readonly context: TraceContext;
  /** This span, or the nearest enclosing span that has not ended. */
  readonly living: Span | undefined;
  /** Adds attributes. */
  set(attributes: Attributes): void;
  /** Marks the span as failed, with the reason. */
  fail(why: string): void;
  /** Keeps this span and the spans that enclose it. */
  keep(): void;
  /** Returns a new span within this one. */
  child(name: string, options?: SpanOptions): Span;
  /** Ends the span at time `at` of the monotonic clock, default now; a second call does nothing. */
  end(at?: number): void;
}

export interface Tracer {
  /**
   * Starts the first span of this process: within the remote span `parent`, or at the beginning of a new
   * trace.
   */
  start(service: string, name: string, parent: TraceContext | undefined, options?: SpanOptions): Span;
  /**
   * Returns the position in a trace from an object's annotation. Undefined if there is no annotation, if its
   * trace is not recorded, or if the annotation was first seen so long ago that current work has another
   * cause.
   */
  follow(note: string | undefined): TraceContext | undefined;
}
