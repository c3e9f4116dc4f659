/** Events as rows of a table, in the form of `kubectl events`. */

import { ageSince } from '../../apimachinery/age.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isRecord } from '../../apimachinery/equality.ts';
import { numberAt, textAt } from '../objects/objects.ts';
import { shown } from './table-writer.ts';

export const eventHeaders = ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'];

/** Returns the age of an event, such as `11s (x3 over 5m)`; missing times are `<unknown>`. */
function seen(event: JsonObject, now: number): string {
  const since = (...path: readonly string[]) => ageSince(textAt(event, ...path), now);
  const first = textAt(event, 'eventTime') === '' ? since('firstTimestamp') : since('eventTime');
  if (isRecord(event.series))
    return `${since('series', 'lastObservedTime')} (x${numberAt(event, 'series', 'count')} over ${first})`;
  const count = numberAt(event, 'count');
  return count > 1 ? `${since('lastTimestamp')} (x${count} over ${first})` : first;
}

export const eventRow = (event: JsonObject, now: number): string[] => [
  seen(event, now),
  ...[
    textAt(event, 'type'),
    textAt(event, 'reason'),
    `${textAt(event, 'involvedObject', 'kind')}/${textAt(event, 'involvedObject', 'name')}`,
    textAt(event, 'message').trim(),
  ].map(shown),
];

/** Returns the last time of an event in milliseconds, by which events are sorted. */
export const eventTime = (event: JsonObject): number => {
  const text = isRecord(event.series)
    ? textAt(event, 'series', 'lastObservedTime')
    : textAt(event, 'lastTimestamp') || textAt(event, 'eventTime');
  return Date.parse(text) || 0;
};
