import { triggers } from '../../../../../src/features/triggers/server/object-metrics.ts';
import { describeSamples } from '../../../kube-apiserver/object-metrics/expected-samples.ts';

describeSamples('Triggers', triggers, 'minik8s_trigger', [
  [
    'info',
    { spec: { target: { kind: 'Workflow', name: 't' }, file: {} } },
    'source="file",target_kind="Workflow",target_name="t" 1',
  ],
  ['events_delivered_total', {}, '0'],
  ['events_failed_total', { status: { failed: 3 } }, '3'],
]);
