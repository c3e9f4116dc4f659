/**
 * The position in a trace, as in the header `traceparent` (W3C Trace Context, version 00), and the creation
 * of new ids. Pure.
 */
import type { Random } from '../random.ts';

export interface TraceContext {
  /** Trace id: 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** Span id: 16 lower-case hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** True if spans of this trace are recorded, as its originator decided. */
  readonly sampled: boolean;
}

export const traceparentHeader = 'traceparent';

/** Later versions may have further fields; version 00 has none. */
const form =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/;

/** Returns undefined for a text of another form. */
export function parseTraceparent(text: string | null | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags = '', more] = form.exec(text ?? '') ?? [];
  if (!traceId || !spanId || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const formatTraceparent = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

/** Returns the digits of a random UUID; six of its bits are fixed. */
const drawn = (random: Random) => random.uuid().replaceAll('-', '');

export function newSpanId(random: Random): string {
  const digits = drawn(random);
  return digits.slice(17) + digits.slice(0, 1);
}

export const newTraceId = (random: Random): string => drawn(random);

/**
 * Number of digits at the end of a trace id that decide on sampling, so that all components with the same
 * rate decide alike.
 */
const sampledDigits = 13;

/** Returns true if a trace that begins here is recorded; `rate` is the recorded fraction, from 0 to 1. */
export const isSampled = (traceId: string, rate: number): boolean =>
  Number.parseInt(traceId.slice(-sampledDigits), 16) < rate * 16 ** sampledDigits;
