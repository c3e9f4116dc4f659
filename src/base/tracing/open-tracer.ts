/** A tracer that sends spans to a collector. Loaded only when an endpoint is set. */
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Random } from '../random.ts';
import { otlpSender } from './otlp-sender.ts';
import type { Tracer } from './span.ts';
import { SpanQueue } from './span-queue.ts';
import { createTracer } from './tracer.ts';

export interface OpenTracerOptions {
  /** URL of the collector, to which spans are posted. */
  readonly endpoint: URL;
  /** Fraction of the traces beginning here that are recorded, from 0 to 1. */
  readonly rate: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface OpenTracer {
  readonly tracer: Tracer;
  /** Sends the remaining spans, for at most `ms` milliseconds. */
  close(ms: number): Promise<void>;
}

export function openTracer({ endpoint, rate, clock, random, log }: OpenTracerOptions): OpenTracer {
  const queue = new SpanQueue({ send: otlpSender(endpoint), clock, log: log.named('tracing') });
  const tracer = createTracer({ clock, random, rate, take: (span) => queue.add(span) });
  return { tracer, close: (ms) => queue.close(ms) };
}
