import { deepCopy } from '../../../apimachinery/equality.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { nonNegative } from '../../core/v1/pod/template-validation.ts';
import { dropRoundTripAnnotations } from '../round-trip-annotations.ts';
import { formatMetrics } from './metrics-column.ts';
import { autoscalingRules } from './rules.ts';
import { intervalAnnotation, intervalCauses } from './scale-interval.ts';
import type { HorizontalPodAutoscaler, HPAScalingRules, MetricSpec } from './types.gen.ts';
import { validateSpec } from './validation.ts';

export type { HorizontalPodAutoscaler } from './types.gen.ts';

/** Default metric: this utilization of the CPU that the pods request. */
const usualMetric: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};

const doubled = { type: 'Percent', value: 100, periodSeconds: 15 };
const usualScaleUp: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, doubled],
};
/** The controller sets the default of the stabilization window for scaling down. */
const usualScaleDown: HPAScalingRules = { selectPolicy: 'Max', policies: [doubled] };

function setDefaults({ spec }: HorizontalPodAutoscaler): void {
  if (!spec.metrics || spec.metrics.length === 0) spec.metrics = [deepCopy(usualMetric)];
  if (!spec.behavior) return;
  spec.behavior.scaleUp = { ...deepCopy(usualScaleUp), ...spec.behavior.scaleUp };
  spec.behavior.scaleDown = { ...deepCopy(usualScaleDown), ...spec.behavior.scaleDown };
}

export const horizontalPodAutoscalerResource: ResourceDefinition<HorizontalPodAutoscaler> = {
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  singular: 'horizontalpodautoscaler',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  typeName: 'autoscaling.v2.HorizontalPodAutoscaler',
  rules: autoscalingRules,
  strategy: {
    setDefaults,
    prepareForCreate: dropRoundTripAnnotations,
    prepareForUpdate: dropRoundTripAnnotations,
    prepareForStatusUpdate: dropRoundTripAnnotations,
    validate: ({ spec }) => validateSpec(spec, 'spec'),
    validateCreate: ({ metadata }) => intervalCauses(metadata),
    // An invalid value that was stored before this validation existed is kept.
    validateUpdate: ({ metadata }, { metadata: old }) =>
      metadata.annotations?.[intervalAnnotation] === old.annotations?.[intervalAnnotation]
        ? []
        : intervalCauses(metadata),
    validateStatus: ({ status }) => [
      ...nonNegative(status?.currentReplicas, 'status.currentReplicas'),
      ...nonNegative(status?.desiredReplicas, 'status.desiredReplicas'),
    ],
    countsGenerations: false,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Reference',
      type: 'string',
      description: 'The scaled object.',
      cell: ({ spec }) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
    },
    {
      name: 'Targets',
      type: 'string',
      description: 'Current values of the metrics, and their targets.',
      cell: ({ spec, status }) => formatMetrics(spec.metrics ?? [], status?.currentMetrics ?? []),
    },
    {
      name: 'MinPods',
      type: 'string',
      description: 'The lowest number of pods that it may set.',
      cell: ({ spec }) => String(spec.minReplicas),
    },
    {
      name: 'MaxPods',
      type: 'string',
      description: 'The highest number of pods that it may set.',
      cell: ({ spec }) => spec.maxReplicas,
    },
    {
      name: 'Replicas',
      type: 'string',
      description: 'The number of pods at the last evaluation.',
      cell: ({ status }) => status?.currentReplicas ?? 0,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
