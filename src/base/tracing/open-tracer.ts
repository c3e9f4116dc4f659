/** A tracer whose spans go to a collector. Loaded where an endpoint is set, and nowhere else. */
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Random } from '../random.ts';
import { otlpSender } from './otlp-sender.ts';
import type { Tracer } from './span.ts';
import { SpanQueue } from './span-queue.ts';
import { createTracer } from './tracer.ts';

export interface OpenTracerOptions {
  /** Of the collector; spans are posted there. */
  readonly endpoint: URL;
  /** Of the traces that begin here so many are recorded, from 0 to 1. */
  readonly rate: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface OpenTracer {
  readonly tracer: Tracer;
  /** Sends what has ended, for `ms` milliseconds at most. */
  close(ms: number): Promise<void>;
}

export function openTracer({ endpoint, rate, clock, random, log }: OpenTracerOptions): OpenTracer {
  const queue = new SpanQueue({ send: otlpSender(endpoint), clock, log: log.named('tracing') });
  const tracer = createTracer({ clock, random, rate, take: (span) => queue.add(span) });
  return { tracer, close: (ms) => queue.close(ms) };
}
