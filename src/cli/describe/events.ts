/** The events at the end of a description. Pure. */
import { ageSince } from '../../apimachinery/age.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { numberAt, textAt } from '../objects/objects.ts';

/** Returns the events, oldest first, with their ages and counts; `Events: <none>` if there are none. */
export function eventLines(events: readonly JsonObject[], now: number): string[] {
  if (events.length === 0) return ['Events:\t<none>'];
  return [
    'Events:',
    '  Type\tReason\tAge\tFrom\tMessage',
    '  ----\t------\t----\t----\t-------',
    ...[...events]
      .sort((a, b) => lastTime(a) - lastTime(b))
      .map((event) => `  ${cells(event, now).join('\t')}`),
  ];
}

const cells = (event: JsonObject, now: number): string[] => [
  textAt(event, 'type'),
  textAt(event, 'reason'),
  seen(event, now),
  textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'),
  textAt(event, 'message').trim(),
];

/** Returns `5s`, or `5s (x3 over 2m)` for an event that occurred several times. */
export function seen(event: JsonObject, now: number): string {
  const since = (...path: readonly string[]) => ageSince(textAt(event, ...path), now);
  const first = textAt(event, 'eventTime') === '' ? since('firstTimestamp') : since('eventTime');
  if (isRecord(event.series))
    return `${since('series', 'lastObservedTime')} (x${numberAt(event, 'series', 'count')} over ${first})`;
  const count = numberAt(event, 'count');
  if (count > 1) return `${since('lastTimestamp')} (x${count} over ${first})`;
  // Some programs set the last time alone, for which kubectl prints <unknown>.
  return isTimed(event) ? first : since('lastTimestamp');
}

const isTimed = (event: JsonObject) => Boolean(textAt(event, 'eventTime') || textAt(event, 'firstTimestamp'));

const lastTime = (event: JsonObject): number =>
  Date.parse(
    textAt(event, 'series', 'lastObservedTime') ||
      textAt(event, 'lastTimestamp') ||
      textAt(event, 'eventTime'),
  ) || 0;
