import { invalidCause, requiredCause } from '../../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { Event } from '../types.gen.ts';
import { eventColumns } from './columns.ts';

export type { Event } from '../types.gen.ts';

/** Namespace of events about objects without a namespace. */
const clusterScopeNamespace = 'default';

/**
 * Events with an eventTime come from newer recorders and must be complete (upstream: legacyValidateEvent).
 */
function validateEvent(event: Event): StatusCause[] {
  const { namespace } = event.metadata;
  const { namespace: about } = event.involvedObject;
  const allowed = about ? [about] : [clusterScopeNamespace, ...(event.eventTime ? ['kube-system'] : [])];
  const causes: StatusCause[] = [];
  if (!(event.eventTime && about) && !allowed.includes(namespace ?? ''))
    causes.push(
      invalidCause(
        'involvedObject.namespace',
        event.involvedObject.namespace ?? '',
        'does not match event.namespace',
      ),
    );
  return event.eventTime ? [...causes, ...validateCompleteEvent(event)] : causes;
}

/** Returns the faults of the fields that newer recorders must set. */
function validateCompleteEvent(event: Event): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const field of ['reportingComponent', 'reportingInstance', 'action', 'reason'] as const) {
    const value = event[field] ?? '';
    if (!value) causes.push(requiredCause(field));
    else if (value.length > 128) causes.push(invalidCause(field, value, 'can have at most 128 characters'));
  }
  if ((event.message ?? '').length > 1024)
    causes.push(invalidCause('message', event.message, 'can have at most 1024 characters'));
  return causes;
}

const involved =
  (field: keyof Event['involvedObject']) =>
  (event: Event): string =>
    String(event.involvedObject[field] ?? '');

export const eventResource: ResourceDefinition<Event> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
  categories: [],
  namespaced: true,
  typeName: 'core.v1.Event',
  rules: {
    'core.v1.Event': {
      acts: 'involvedObject reason message type count firstTimestamp lastTimestamp eventTime series related source reportingComponent reportingInstance action',
      defaults: { source: {}, reportingComponent: '', reportingInstance: '' },
    },
    'core.v1.EventSeries': {},
    'core.v1.EventSource': {},
  },
  strategy: {
    validate: validateEvent,
    countsGenerations: false,
    createsOnUpdate: true,
  },
  hasStatus: false,
  columns: eventColumns,
  selectableFields: {
    'involvedObject.kind': involved('kind'),
    'involvedObject.namespace': involved('namespace'),
    'involvedObject.name': involved('name'),
    'involvedObject.uid': involved('uid'),
    'involvedObject.apiVersion': involved('apiVersion'),
    'involvedObject.resourceVersion': involved('resourceVersion'),
    'involvedObject.fieldPath': involved('fieldPath'),
    reason: (event) => event.reason ?? '',
    reportingComponent: (event) => event.reportingComponent,
    source: (event) => event.source.component || event.reportingComponent,
    type: (event) => event.type ?? '',
  },
  deleteAnswers: 'status',
};
