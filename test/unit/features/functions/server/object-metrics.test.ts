import { functions } from '../../../../../src/features/functions/server/object-metrics.ts';
import { describeSamples } from '../../../kube-apiserver/object-metrics/expected-samples.ts';

describeSamples('Functions', functions, 'minik8s_function', [
  ['info', { spec: { image: 'i' } }, 'runtime="",active_version="",latest_version="" 1'],
  ['status_replicas_ready', { status: { readyReplicas: 2 } }, '2'],
]);
