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
    info('minik8s_trigger_info', 'What the Trigger watches, and what it calls.', ({ spec }) => ({
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
      'How many events were delivered.',
      ({ status }) => status?.delivered ?? 0,
    ),
    counter(
      'minik8s_trigger_events_failed_total',
      'How many events became dead letters.',
      ({ status }) => status?.failed ?? 0,
    ),
    counter(
      'minik8s_trigger_events_discarded_total',
      'How many events were dropped.',
      ({ status }) => status?.discarded ?? 0,
    ),
    gauge(
      'minik8s_trigger_status_pending',
      'How many events wait to be delivered.',
      ({ status }) => status?.pending ?? 0,
    ),
    gauge(
      'minik8s_trigger_status_dead_letters',
      'How many dead letters there are.',
      ({ status }) => status?.deadLetters ?? 0,
    ),
    gauge(
      'minik8s_trigger_status_last_time',
      'When an event was delivered last, in seconds since the epoch.',
      ({ status }) => seconds(status?.lastTime),
    ),
    conditions(
      'minik8s_trigger_status_condition',
      'The conditions of the Trigger.',
      ({ status }) => status?.conditions,
    ),
  ],
});
