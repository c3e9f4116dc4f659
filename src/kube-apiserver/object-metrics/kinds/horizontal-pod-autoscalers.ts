/** HorizontalPodAutoscalers. */
import {
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalerResource,
} from '../../../api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import type { MetricSpec, MetricStatus, MetricValueStatus } from '../../../api/autoscaling/v2/types.gen.ts';
import { conditions } from '../condition-samples.ts';
import { gauge, gauges, info, objectMetrics } from '../family.ts';
import { created, deletionTimestamp, generation, namespaced } from '../metadata-families.ts';
import { unitsOf } from '../resource-units.ts';

interface Metric {
  readonly name: string;
  readonly values: MetricValueStatus;
  readonly container: string;
}

/** Returns the metric from the part that its type sets; undefined if no part is set. */
function metricOf<T>(
  metric: MetricSpec | MetricStatus,
  valuesOf: (part: T) => MetricValueStatus,
): Metric | undefined {
  const { object, pods, resource, containerResource, external } = metric;
  const outside = object ?? pods ?? external;
  const amount = resource ?? containerResource;
  const name = outside?.metric.name ?? amount?.name;
  const part = (outside ?? amount) as T | undefined;
  if (name === undefined || part === undefined) return undefined;
  return { name, values: valuesOf(part), container: containerResource?.container ?? '' };
}

function samplesOf(metric: Metric | undefined) {
  if (!metric) return [];
  const { value, averageUtilization, averageValue } = metric.values;
  const values = { value: unitsOf(value), utilization: averageUtilization, average: unitsOf(averageValue) };
  return Object.entries(values).flatMap(([type, number]) =>
    number === undefined
      ? []
      : [
          {
            labels: { metric_name: metric.name, metric_target_type: type, container: metric.container },
            value: number,
          },
        ],
  );
}

const targetOf = ({ target }: { readonly target: MetricValueStatus }) => target;
const currentOf = ({ current }: { readonly current: MetricValueStatus }) => current;

export const horizontalPodAutoscalers = objectMetrics<HorizontalPodAutoscaler>({
  ref: horizontalPodAutoscalerResource,
  labelsOf: namespaced('horizontalpodautoscaler'),
  families: [
    info(
      'kube_horizontalpodautoscaler_info',
      'Scale target of the autoscaler.',
      ({ spec: { scaleTargetRef } }) => ({
        ...(scaleTargetRef.apiVersion && { scaletargetref_api_version: scaleTargetRef.apiVersion }),
        scaletargetref_kind: scaleTargetRef.kind,
        scaletargetref_name: scaleTargetRef.name,
      }),
    ),
    created('kube_horizontalpodautoscaler'),
    deletionTimestamp('kube_horizontalpodautoscaler'),
    generation('kube_horizontalpodautoscaler'),
    gauge(
      'kube_horizontalpodautoscaler_spec_max_replicas',
      'Maximum number of pods.',
      ({ spec }) => spec.maxReplicas,
    ),
    gauge(
      'kube_horizontalpodautoscaler_spec_min_replicas',
      'Minimum number of pods.',
      ({ spec }) => spec.minReplicas ?? 1,
    ),
    gauges('kube_horizontalpodautoscaler_spec_target_metric', 'Target values of the metrics.', ({ spec }) =>
      (spec.metrics ?? []).flatMap((metric) => samplesOf(metricOf(metric, targetOf))),
    ),
    gauges(
      'kube_horizontalpodautoscaler_status_target_metric',
      'Current values of the metrics.',
      ({ status }) =>
        (status?.currentMetrics ?? []).flatMap((metric) => samplesOf(metricOf(metric, currentOf))),
    ),
    gauge(
      'kube_horizontalpodautoscaler_status_current_replicas',
      'Current number of pods.',
      ({ status }) => status?.currentReplicas ?? 0,
    ),
    gauge(
      'kube_horizontalpodautoscaler_status_desired_replicas',
      'Desired number of pods.',
      ({ status }) => status?.desiredReplicas ?? 0,
    ),
    conditions(
      'kube_horizontalpodautoscaler_status_condition',
      'The conditions of the autoscaler.',
      ({ status }) => status?.conditions,
    ),
  ],
});
