/** Events as rows of a table, in the form of `kubectl events`. */

import type { JsonObject } from '../../apimachinery/equality.ts';
import { isRecord } from '../../apimachinery/equality.ts';
import { seen } from '../describe/events.ts';
import { textAt } from '../objects/objects.ts';
import { shown } from './table-writer.ts';

export const eventHeaders = ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'];

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
