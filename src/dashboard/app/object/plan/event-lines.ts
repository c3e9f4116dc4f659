/** Events as lines, the latest first. Pure. */

import { numberAt, textAt } from '../../../../apimachinery/fields.ts';
import type { KubeObject } from '../../../../apimachinery/meta.ts';

export interface EventLine {
  readonly uid: string;
  readonly isWarning: boolean;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  /** Time of the last occurrence, in RFC 3339. */
  readonly last: string;
  readonly from: string;
}

export const eventLines = (events: readonly KubeObject[]): EventLine[] =>
  events.map(lineOf).sort((a, b) => Date.parse(b.last) - Date.parse(a.last));

function lineOf(event: KubeObject): EventLine {
  return {
    uid: event.metadata.uid,
    isWarning: textAt(event, 'type') === 'Warning',
    reason: textAt(event, 'reason'),
    message: textAt(event, 'message'),
    count: numberAt(event, 'series', 'count') || numberAt(event, 'count') || 1,
    last:
      textAt(event, 'series', 'lastObservedTime') ||
      textAt(event, 'lastTimestamp') ||
      textAt(event, 'eventTime') ||
      event.metadata.creationTimestamp,
    from: textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'),
  };
}
