/** Metrics of Functions on /metrics/objects. Pure. */
import { conditions } from '../../../kube-apiserver/object-metrics/condition-samples.ts';
import { gauge, info, objectMetrics } from '../../../kube-apiserver/object-metrics/family.ts';
import {
  created,
  generation,
  namespaced,
  observedGeneration,
} from '../../../kube-apiserver/object-metrics/metadata-families.ts';
import { type Fn, functionResource } from '../api/function.ts';

export const functions = objectMetrics<Fn>({
  ref: functionResource,
  labelsOf: namespaced('function'),
  families: [
    info('minik8s_function_info', 'The language of the Function, and the version that is called.', (fn) => ({
      runtime: fn.spec.runtime ?? '',
      active_version: fn.status?.activeVersion ?? '',
      latest_version: fn.status?.latestVersion ?? '',
    })),
    created('minik8s_function'),
    generation('minik8s_function'),
    gauge('minik8s_function_spec_min_scale', 'Minimum number of instances.', ({ spec }) => spec.minScale),
    gauge('minik8s_function_spec_max_scale', 'Maximum number of instances.', ({ spec }) => spec.maxScale),
    gauge(
      'minik8s_function_status_replicas',
      'Current number of instances.',
      ({ status }) => status?.replicas ?? 0,
    ),
    gauge(
      'minik8s_function_status_replicas_ready',
      'Number of ready instances.',
      ({ status }) => status?.readyReplicas ?? 0,
    ),
    observedGeneration('minik8s_function'),
    conditions(
      'minik8s_function_status_condition',
      'The conditions of the Function.',
      ({ status }) => status?.conditions,
    ),
  ],
});
