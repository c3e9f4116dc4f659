/** How long Events are kept: so long after what they tell of has last happened. */
import type { Event } from '../../api/core/v1/event.ts';

/** Milliseconds; the default of upstream's --event-ttl. */
export const defaultEventTtl = 3_600_000;

/** By how much the clocks of masters may differ. */
const skewMs = 300_000;

/**
 * Milliseconds until the Event may go. Its recorder counts it up with the time at which it happened again. What a writer says of the future does
 * not count: it might never pass.
 */
export function leftOf(event: Event, ttlMs: number, now: number): number {
  const { metadata, firstTimestamp, lastTimestamp, eventTime, series } = event;
  const told = [firstTimestamp, lastTimestamp, eventTime, series?.lastObservedTime];
  const times = [metadata.creationTimestamp, ...told].map((time) => Date.parse(time ?? ''));
  return Math.max(...times.filter((time) => time <= now + skewMs), 0) + ttlMs - now;
}
