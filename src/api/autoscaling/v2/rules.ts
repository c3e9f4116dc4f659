/** Of almost every field Kubernetes' validation says itself what is missing, so the decoder gives it Go's zero value. */
import { createTypeTable } from '../../../apimachinery/type-table.ts';
import { choiceLines, typeLines } from '../../kubernetes-types.gen.ts';
import { sharedRules } from '../../shared-rules.ts';

const metricSource = { mayLack: 'metric target', defaults: { metric: {}, target: {} } };
const metricStatus = { mayLack: 'metric current', defaults: { metric: {}, current: {} } };

export const autoscalingRules = {
  'autoscaling.v2.HorizontalPodAutoscaler': { mayLack: 'spec', defaults: { spec: {} } },
  'autoscaling.v2.HorizontalPodAutoscalerSpec': {
    mayLack: 'scaleTargetRef maxReplicas',
    defaults: { scaleTargetRef: {}, minReplicas: 1, maxReplicas: 0 },
  },
  'autoscaling.v2.CrossVersionObjectReference': { mayLack: 'kind name', defaults: { kind: '', name: '' } },
  'autoscaling.v2.HorizontalPodAutoscalerBehavior': {},
  'autoscaling.v2.HPAScalingRules': { acts: 'stabilizationWindowSeconds selectPolicy policies' },
  'autoscaling.v2.HPAScalingPolicy': {
    mayLack: 'type value periodSeconds',
    defaults: { type: '', value: 0, periodSeconds: 0 },
  },
  'autoscaling.v2.MetricSpec': { mayLack: 'type', defaults: { type: '' } },
  'autoscaling.v2.MetricIdentifier': { mayLack: 'name', defaults: { name: '' } },
  'autoscaling.v2.MetricTarget': { mayLack: 'type', defaults: { type: '' } },
  'autoscaling.v2.ObjectMetricSource': {
    mayLack: 'describedObject metric target',
    defaults: { describedObject: {}, metric: {}, target: {} },
  },
  'autoscaling.v2.PodsMetricSource': metricSource,
  'autoscaling.v2.ExternalMetricSource': metricSource,
  'autoscaling.v2.ResourceMetricSource': { mayLack: 'name target', defaults: { name: '', target: {} } },
  'autoscaling.v2.ContainerResourceMetricSource': {
    mayLack: 'name container target',
    defaults: { name: '', container: '', target: {} },
  },
  'autoscaling.v2.HorizontalPodAutoscalerStatus': {
    mayLack: 'desiredReplicas',
    defaults: { currentReplicas: 0, desiredReplicas: 0 },
  },
  'autoscaling.v2.HorizontalPodAutoscalerCondition': { mayLack: 'type status' },
  'autoscaling.v2.MetricStatus': { mayLack: 'type', defaults: { type: '' } },
  'autoscaling.v2.MetricValueStatus': {},
  'autoscaling.v2.ObjectMetricStatus': {
    mayLack: 'describedObject metric current',
    defaults: { describedObject: {}, metric: {}, current: {} },
  },
  'autoscaling.v2.PodsMetricStatus': metricStatus,
  'autoscaling.v2.ExternalMetricStatus': metricStatus,
  'autoscaling.v2.ResourceMetricStatus': { mayLack: 'name current', defaults: { name: '', current: {} } },
  'autoscaling.v2.ContainerResourceMetricStatus': {
    mayLack: 'name container current',
    defaults: { name: '', container: '', current: {} },
  },
};

/** The same types for whoever reads a part of an object by itself. */
export const autoscalingFields = createTypeTable(typeLines, choiceLines, {
  ...sharedRules,
  ...autoscalingRules,
});
