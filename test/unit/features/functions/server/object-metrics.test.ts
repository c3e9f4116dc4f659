import { functions } from '../../../../../src/features/functions/server/object-metrics.ts';
import { describeSamples, explains, names } from '../../../kube-apiserver/object-metrics/expected-samples.ts';

describeSamples('Functions', functions, 'minik8s_function', [
  ['info', { spec: { image: 'i' } }, 'runtime="",active_version="",latest_version="" 1'],
  [
    'info',
    { spec: { runtime: 'python' }, status: { activeVersion: 'v1', latestVersion: 'v2' } },
    'runtime="python",active_version="v1",latest_version="v2" 1',
  ],
  ['created', {}, '1767225600'],
  ['metadata_generation', { metadata: { generation: 3 } }, '3'],
  ['spec_min_scale', { spec: { minScale: 1, maxScale: 4 } }, '1'],
  ['spec_max_scale', { spec: { minScale: 1, maxScale: 4 } }, '4'],
  ['status_replicas', { status: { replicas: 3, readyReplicas: 2 } }, '3'],
  ['status_replicas', {}, '0'],
  ['status_replicas_ready', { status: { replicas: 3, readyReplicas: 2 } }, '2'],
  ['status_replicas_ready', {}, '0'],
  ['status_observed_generation', { status: { observedGeneration: 2 } }, '2'],
  [
    'status_condition',
    { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
    'condition="Ready",status="true" 1',
    'condition="Ready",status="false" 0',
    'condition="Ready",status="unknown" 0',
  ],
]);

explains('Functions', functions);
names(functions, 'namespace="ns",function="a"');
