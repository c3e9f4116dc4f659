/**
 * Events of newer recorders: the objects of core/v1 under other names, with stricter rules (upstream:
 * ValidateEventCreate).
 */

import { deepEqual } from '../../../apimachinery/equality.ts';
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { FieldGetter } from '../../../apimachinery/resource-definition.ts';
import { servedVersion } from '../../../apimachinery/served-version.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { eventResource as coreEvents } from '../../core/v1/event/event.ts';
import type { Event as CoreEvent } from '../../core/v1/types.gen.ts';
import type { Event } from './types.gen.ts';

type Fields<T> = Omit<T, 'apiVersion' | 'kind' | 'metadata'>;

/** Removes fields without a value, as the decoder does. */
const present = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

function toCore(event: Event): Fields<CoreEvent> {
  const { apiVersion: _, kind: __, metadata: ___, ...fields } = event;
  const { regarding, note, reportingController, deprecatedSource, ...rest } = fields;
  const { deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedCount, ...same } = rest;
  return present({
    ...same,
    involvedObject: regarding ?? {},
    message: note,
    source: deprecatedSource ?? {},
    firstTimestamp: deprecatedFirstTimestamp,
    lastTimestamp: deprecatedLastTimestamp,
    count: deprecatedCount,
    reportingComponent: reportingController ?? '',
    reportingInstance: event.reportingInstance ?? '',
  });
}

function fromCore(event: CoreEvent): Fields<Event> {
  const { apiVersion: _, kind: __, metadata: ___, ...fields } = event;
  const { involvedObject, message, source, firstTimestamp, lastTimestamp, count, ...rest } = fields;
  const { reportingComponent, reportingInstance, ...same } = rest;
  return present({
    ...same,
    regarding: involvedObject,
    note: message,
    deprecatedSource: Object.keys(source).length > 0 ? source : undefined,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
    reportingController: reportingComponent || undefined,
    reportingInstance: reportingInstance || undefined,
  });
}

function seriesCauses({ series }: CoreEvent): StatusCause[] {
  if (!series) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalidCause('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime ? [] : [requiredCause('series.lastObservedTime')]),
  ];
}

/** Fields that only older recorders write. */
const older = ['firstTimestamp', 'lastTimestamp', 'count'] as const;

function validate(event: CoreEvent): StatusCause[] {
  const { type = '', source } = event;
  const set = older.filter((field) => event[field]).map(String);
  if (source.component || source.host) set.push('source');
  return [
    ...seriesCauses(event),
    ...(event.eventTime ? [] : [requiredCause('eventTime')]),
    ...(type === 'Normal' || type === 'Warning'
      ? []
      : [invalidCause('type', '', `has invalid value: ${type}`)]),
    ...set.map((field) => invalidCause(field, '', 'needs to be unset')),
  ];
}

/** Immutable fields: only the series may change. */
const fixed = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
] as const;

function validateUpdate(event: CoreEvent, old: CoreEvent): StatusCause[] {
  const unchangeable: readonly [string, unknown, unknown][] = [
    ...fixed.map((field) => [field, event[field], old[field]] as [string, unknown, unknown]),
    ['reportingController', event.reportingComponent, old.reportingComponent],
    ['reportingInstance', event.reportingInstance, old.reportingInstance],
  ];
  const changed = unchangeable.filter(([, next, before]) => !deepEqual(next ?? null, before ?? null));
  return [
    ...(deepEqual(event.series ?? null, old.series ?? null) ? [] : seriesCauses(event)),
    ...changed.map(([field, value]) => invalidCause(field, value, 'field is immutable')),
  ];
}

const { reportingComponent, ...selectable } = coreEvents.selectableFields;

/** Selectable fields of the regarded object, renamed to `regarding`. */
const regarding = Object.fromEntries(
  Object.entries(selectable).map(([field, getter]): [string, FieldGetter<CoreEvent>] => [
    field.replace('involvedObject.', 'regarding.'),
    getter,
  ]),
);

export const eventsV1Resource = servedVersion<CoreEvent, Event>(coreEvents, {
  group: 'events.k8s.io',
  version: 'v1',
  typeName: 'events.v1.Event',
  rules: {
    'events.v1.Event': { mayLack: 'eventTime' },
    'events.v1.EventSeries': { mayLack: 'count lastObservedTime' },
  },
  toStored: toCore,
  fromStored: fromCore,
  validate,
  validateUpdate,
  selectableFields: { ...regarding, ...(reportingComponent && { reportingController: reportingComponent }) },
});
