import { triggers } from '../../../../../src/features/triggers/server/object-metrics.ts';
import { describeSamples, explains, names } from '../../../kube-apiserver/object-metrics/expected-samples.ts';

describeSamples('Triggers', triggers, 'minik8s_trigger', [
  [
    'info',
    { spec: { target: { kind: 'Workflow', name: 't' }, file: {} } },
    'source="file",target_kind="Workflow",target_name="t" 1',
  ],
  ['created', {}, '1767225600'],
  ['spec_suspend', { spec: { suspend: true } }, '1'],
  ['spec_suspend', { spec: {} }, '0'],
  ['events_delivered_total', {}, '0'],
  ['events_delivered_total', { status: { delivered: 2, failed: 3, discarded: 4 } }, '2'],
  ['events_failed_total', { status: { delivered: 2, failed: 3, discarded: 4 } }, '3'],
  ['events_failed_total', {}, '0'],
  ['events_discarded_total', { status: { delivered: 2, failed: 3, discarded: 4 } }, '4'],
  ['events_discarded_total', {}, '0'],
  ['status_pending', { status: { pending: 5, deadLetters: 6 } }, '5'],
  ['status_pending', {}, '0'],
  ['status_dead_letters', { status: { pending: 5, deadLetters: 6 } }, '6'],
  ['status_dead_letters', {}, '0'],
  ['status_last_time', { status: { lastTime: '2026-01-01T00:00:07Z' } }, '1767225607'],
  ['status_last_time', {}],
  [
    'status_condition',
    { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
    'condition="Ready",status="true" 0',
    'condition="Ready",status="false" 1',
    'condition="Ready",status="unknown" 0',
  ],
]);

explains('Triggers', triggers);
names(triggers, 'namespace="ns",trigger="a"');
