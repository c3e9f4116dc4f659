/**
 * Rules of the types. Kubernetes' validation reports most missing fields itself, so the decoder gives them
 * Go's zero values.
 */
import { createTypeTable } from '../../../apimachinery/type-table.ts';
import { choiceLines, typeLines } from '../../kubernetes-types.gen.ts';
import { sharedRules } from '../../shared-rules.ts';

const metricSource = { defaults: { metric: {}, target: {} } };
const metricStatus = { defaults: { metric: {}, current: {} } };

export const autoscalingRules = {
  'autoscaling.v2.HorizontalPodAutoscaler': { defaults: { spec: {} } },
  'autoscaling.v2.HorizontalPodAutoscalerSpec': {
    defaults: { scaleTargetRef: {}, minReplicas: 1, maxReplicas: 0 },
  },
  'autoscaling.v2.CrossVersionObjectReference': { defaults: { kind: '', name: '' } },
  'autoscaling.v2.HorizontalPodAutoscalerBehavior': {},
  'autoscaling.v2.HPAScalingRules': { acts: 'stabilizationWindowSeconds selectPolicy policies' },
  'autoscaling.v2.HPAScalingPolicy': {
    defaults: { type: '', value: 0, periodSeconds: 0 },
  },
  'autoscaling.v2.MetricSpec': { defaults: { type: '' } },
  'autoscaling.v2.MetricIdentifier': { defaults: { name: '' } },
  'autoscaling.v2.MetricTarget': { defaults: { type: '' } },
  'autoscaling.v2.ObjectMetricSource': {
    defaults: { describedObject: {}, metric: {}, target: {} },
  },
  'autoscaling.v2.PodsMetricSource': metricSource,
  'autoscaling.v2.ExternalMetricSource': metricSource,
  'autoscaling.v2.ResourceMetricSource': { defaults: { name: '', target: {} } },
  'autoscaling.v2.ContainerResourceMetricSource': {
    defaults: { name: '', container: '', target: {} },
  },
  'autoscaling.v2.HorizontalPodAutoscalerStatus': {
    defaults: { currentReplicas: 0, desiredReplicas: 0 },
  },
  'autoscaling.v2.HorizontalPodAutoscalerCondition': { mayLack: 'type status' },
  'autoscaling.v2.MetricStatus': { defaults: { type: '' } },
  'autoscaling.v2.MetricValueStatus': {},
  'autoscaling.v2.ObjectMetricStatus': {
    defaults: { describedObject: {}, metric: {}, current: {} },
  },
  'autoscaling.v2.PodsMetricStatus': metricStatus,
  'autoscaling.v2.ExternalMetricStatus': metricStatus,
  'autoscaling.v2.ResourceMetricStatus': { defaults: { name: '', current: {} } },
  'autoscaling.v2.ContainerResourceMetricStatus': {
    defaults: { name: '', container: '', current: {} },
  },
};

/** The same types, for reading a part of an object by itself. */
export const autoscalingFields = createTypeTable(typeLines, choiceLines, {
  ...sharedRules,
  ...autoscalingRules,
});
