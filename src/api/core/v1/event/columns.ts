/** Columns of Events; the most recent time comes first (upstream: printEvent). */

import { ageSince } from '../../../../apimachinery/age.ts';
import type { Column } from '../../../../apimachinery/resource-definition.ts';
import type { Event } from '../types.gen.ts';

const firstSeen = (event: Event, now: number) => ageSince(event.firstTimestamp || event.eventTime, now);

function lastSeen(event: Event, now: number): string {
  const last = event.series?.lastObservedTime || event.lastTimestamp;
  return last ? ageSince(last, now) : firstSeen(event, now);
}

/** Returns `pod/web`, or the kind alone when the event names no object. */
function target({ involvedObject: { kind = '', name } }: Event): string {
  return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase();
}

function source({ source: { component, host }, reportingComponent, reportingInstance }: Event): string {
  const who = component || reportingComponent;
  const where = host || reportingInstance;
  return where ? `${who}, ${where}` : who;
}

export const eventColumns: readonly Column<Event>[] = [
  {
    name: 'Last Seen',
    type: 'string',
    description: 'Time since the last occurrence.',
    cell: lastSeen,
  },
  {
    name: 'Type',
    type: 'string',
    description: 'Normal or Warning.',
    cell: (event) => event.type ?? '',
  },
  {
    name: 'Reason',
    type: 'string',
    description: 'The reason of the event, in one word.',
    cell: (event) => event.reason ?? '',
  },
  {
    name: 'Object',
    type: 'string',
    description: 'The object of the event.',
    cell: target,
  },
  {
    name: 'Subobject',
    type: 'string',
    priority: 1,
    description: 'The part of the object, such as one of its containers.',
    cell: (event) => event.involvedObject.fieldPath ?? '',
  },
  {
    name: 'Source',
    type: 'string',
    priority: 1,
    description: 'The component that reported the event, and its node.',
    cell: source,
  },
  {
    name: 'Message',
    type: 'string',
    description: 'Description of the event.',
    cell: (event) => (event.message ?? '').trim(),
  },
  {
    name: 'First Seen',
    type: 'string',
    priority: 1,
    description: 'Time since the first occurrence.',
    cell: firstSeen,
  },
  {
    name: 'Count',
    type: 'string',
    priority: 1,
    description: 'Number of occurrences.',
    cell: (event) => event.series?.count || event.count || 1,
  },
  {
    name: 'Name',
    type: 'string',
    format: 'name',
    priority: 1,
    description: 'The name of the event itself.',
    cell: (event) => event.metadata.name,
  },
];
