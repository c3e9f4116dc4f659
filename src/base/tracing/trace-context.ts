/**
 * Where in which trace something happens, as the header `traceparent` says it (W3C Trace Context, version 00), and how a new
 * place is drawn. Pure.
 */
import type { Random } from '../random.ts';

export interface TraceContext {
  /** 32 hexadecimal digits in lower case, not all zero. */
  readonly traceId: string;
  /** 16 of them. */
  readonly spanId: string;
  /** Whether spans of this trace are recorded: whoever began it has decided. */
  readonly sampled: boolean;
}

export const traceparentHeader = 'traceparent';

/** Later versions may have more behind it; this one has nothing. */
const form =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/;

/** Undefined for a text of another form. */
export function parseTraceparent(text: string | null | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags = '', more] = form.exec(text ?? '') ?? [];
  if (!traceId || !spanId || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const formatTraceparent = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

/** The digits of a UUID that are drawn: six of its bits are not. */
const drawn = (random: Random) => random.uuid().replaceAll('-', '');

export function newSpanId(random: Random): string {
  const digits = drawn(random);
  return digits.slice(17) + digits.slice(0, 1);
}

export const newTraceId = (random: Random): string => drawn(random);

/** Digits at the end of a trace's id by which it is sampled, so that all who know the id and the rate decide alike. */
const sampledDigits = 13;

/** Whether a trace that begins here is recorded, where `rate` of 0 to 1 of them are. */
export const isSampled = (traceId: string, rate: number): boolean =>
  Number.parseInt(traceId.slice(-sampledDigits), 16) < rate * 16 ** sampledDigits;
