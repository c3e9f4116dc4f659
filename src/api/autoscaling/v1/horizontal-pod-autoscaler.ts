/**
 * HorizontalPodAutoscaler from before the support for several metrics: it only has a field for the CPU
 * utilization. All other data is served and read as annotations, as upstream does, so that a client of this
 * version loses nothing.
 */
import { servedVersion } from '../../../apimachinery/served-version.ts';
import { otherAnnotations } from '../round-trip-annotations.ts';
import { horizontalPodAutoscalerResource } from '../v2/horizontal-pod-autoscaler.ts';
import type { MetricSpec, MetricStatus, HorizontalPodAutoscaler as Stored } from '../v2/types.gen.ts';
import { readCarried, withCarried } from './annotations.ts';
import type { HorizontalPodAutoscaler as Served } from './types.gen.ts';

type Fields<T> = Omit<T, 'apiVersion' | 'kind' | 'metadata'>;

const cpuMetric = (averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

/** Returns the utilization of the metric for which v1 has a field; undefined for every other metric. */
function cpuShare({ resource }: MetricSpec): number | undefined {
  if (resource?.name !== 'cpu') return undefined;
  const { type, value, averageUtilization } = resource.target;
  return type === 'Utilization' && value === undefined ? averageUtilization : undefined;
}

const isCpuShare = (metric: MetricSpec) => cpuShare(metric) !== undefined;

/**
 * Adds the CPU metric after the others, as upstream. If there is another CPU metric, adds it before that
 * one, since v1 shows the first CPU metric.
 */
function withCpuShare(others: readonly MetricSpec[], share: number | undefined): MetricSpec[] {
  if (share === undefined) return [...others];
  const second = others.findIndex(isCpuShare);
  return others.toSpliced(second < 0 ? others.length : second, 0, cpuMetric(share));
}

function toStored(object: Served): Fields<Stored> {
  const { scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: share } = object.spec;
  const { metrics, behavior, currentMetrics, conditions } = readCarried(object);
  const { currentCPUUtilizationPercentage: current, ...counts } = object.status ?? {
    currentReplicas: 0,
    desiredReplicas: 0,
  };
  const measured = currentMetrics ?? (current === undefined ? undefined : [cpuStatus(current)]);
  return {
    spec: {
      scaleTargetRef,
      minReplicas,
      maxReplicas,
      metrics: withCpuShare(metrics ?? [], share),
      behavior,
    },
    ...((object.status || measured || conditions) && {
      status: {
        ...counts,
        currentMetrics: measured,
        conditions,
      },
    }),
  };
}

const cpuStatus = (averageUtilization: number): MetricStatus => ({
  type: 'Resource',
  resource: { name: 'cpu', current: { averageUtilization } },
});

function fromStored({ spec, status }: Stored): Fields<Served> {
  const { scaleTargetRef, minReplicas, maxReplicas, metrics = [] } = spec;
  const share = metrics.map(cpuShare).find((value) => value !== undefined);
  return {
    spec: {
      scaleTargetRef,
      minReplicas,
      maxReplicas,
      ...(share !== undefined && { targetCPUUtilizationPercentage: share }),
    },
    ...(status && { status: shownStatus(status) }),
  };
}

function shownStatus({ currentMetrics = [], conditions: _, ...counts }: NonNullable<Stored['status']>) {
  const cpu = currentMetrics.findLast(
    ({ type, resource }) =>
      type === 'Resource' && resource?.name === 'cpu' && resource.current.averageUtilization !== undefined,
  );
  const percentage = cpu?.resource?.current.averageUtilization;
  // A field of v1 that JSON always shows, and one of v2 that is left out at zero.
  const { currentReplicas = 0 } = counts;
  return {
    ...counts,
    currentReplicas,
    ...(percentage !== undefined && { currentCPUUtilizationPercentage: percentage }),
  };
}

/** Returns all metrics but the one that has a field. */
function otherMetrics(metrics: readonly MetricSpec[]): MetricSpec[] {
  const first = metrics.findIndex(isCpuShare);
  return metrics.filter((_, index) => index !== first);
}

export const horizontalPodAutoscalerV1Resource = servedVersion<Stored, Served>(
  horizontalPodAutoscalerResource,
  {
    version: 'v1',
    typeName: 'autoscaling.v1.HorizontalPodAutoscaler',
    rules: {
      'autoscaling.v1.HorizontalPodAutoscaler': { defaults: { spec: {} } },
      'autoscaling.v1.HorizontalPodAutoscalerSpec': {
        defaults: { scaleTargetRef: {}, minReplicas: 1, maxReplicas: 0 },
      },
      'autoscaling.v1.CrossVersionObjectReference': {
        defaults: { kind: '', name: '' },
      },
      'autoscaling.v1.HorizontalPodAutoscalerStatus': {
        defaults: { currentReplicas: 0, desiredReplicas: 0 },
      },
    },
    toStored,
    fromStored,
    annotations: {
      toStored: otherAnnotations,
      fromStored: (object) =>
        withCarried(object, {
          metrics: otherMetrics(object.spec.metrics ?? []),
          behavior: object.spec.behavior,
          currentMetrics: object.status?.currentMetrics,
          conditions: object.status?.conditions,
        }),
    },
  },
);
