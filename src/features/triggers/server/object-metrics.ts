/** Metrics of Triggers on /metrics/objects. Pure. */
import { conditions } from '../../../kube-apiserver/object-metrics/condition-samples.ts';
import {
  counter,
  gauge,
  info,
  objectMetrics,
  seconds,
} from '../../../kube-apiserver/object-metrics/family.ts';
import { created, namespaced } from '../../../kube-apiserver/object-metrics/metadata-families.ts';
import { type Trigger, triggerResource } from '../api/trigger.ts';
import { sourceNames } from '../api/trigger-fields.ts';

export const triggers = objectMetrics<Trigger>({
  ref: triggerResource,
  labelsOf: namespaced('trigger'),
  families: [
    info('minik8s_trigger_info', 'Source and target of the Trigger.', ({ spec }) => ({
      source: sourceNames.find((name) => spec[name] !== undefined) ?? '',
      target_kind: spec.target.kind ?? '',
      target_name: spec.target.name,
    })),
    created('minik8s_trigger'),
    gauge(
      'minik8s_trigger_spec_suspend',
      'Whether the trigger is suspended.',
      ({ spec }) => spec.suspend ?? false,
    ),
    counter(
      'minik8s_trigger_events_delivered_total',
      'Number of delivered events.',
      ({ status }) => status?.delivered ?? 0,
    ),
    counter(
      'minik8s_trigger_events_failed_total',
      'Number of events that became dead letters.',
      ({ status }) => status?.failed ?? 0,
    ),
    counter(
      'minik8s_trigger_events_discarded_total',
      'Number of dropped events.',
      ({ status }) => status?.discarded ?? 0,
    ),
    gauge(
      'minik8s_trigger_status_pending',
      'Number of events that wait for delivery.',
      ({ status }) => status?.pending ?? 0,
    ),
    gauge(
      'minik8s_trigger_status_dead_letters',
      'Number of stored dead letters.',
      ({ status }) => status?.deadLetters ?? 0,
    ),
    gauge(
      'minik8s_trigger_status_last_time',
      'Time of the last delivery of an event, in seconds since the epoch.',
      ({ status }) => seconds(status?.lastTime),
    ),
    conditions(
      'minik8s_trigger_status_condition',
      'The conditions of the Trigger.',
      ({ status }) => status?.conditions,
    ),
  ],
});
