/** Retention of Events, counted from their last occurrence. */
import type { Event } from '../../api/core/v1/event/event.ts';

/** Default in milliseconds, as upstream's --event-ttl. */
export const defaultEventTtl = 3_600_000;

/** Maximum difference in milliseconds between the clocks of masters. */
const skewMs = 300_000;

/**
 * Returns the milliseconds until the Event may be deleted. Its recorder updates the time of the last
 * occurrence. Times in the future are ignored, because they might never pass.
 */
export function leftOf(event: Event, ttlMs: number, now: number): number {
  const { metadata, firstTimestamp, lastTimestamp, eventTime, series } = event;
  const reported = [firstTimestamp, lastTimestamp, eventTime, series?.lastObservedTime];
  const times = [metadata.creationTimestamp, ...reported].map((time) => Date.parse(time ?? ''));
  return Math.max(...times.filter((time) => time <= now + skewMs), 0) + ttlMs - now;
}
