/** Dispatches one metric of an autoscaler to its calculation, and describes its failure. Pure. */
import type { MetricSpec } from '../../api/autoscaling/v2/types.gen.ts';
import { ofExternal, ofObject, ofPods } from './outside-metrics-plan.ts';
import type { Known, Proposal, Reading } from './proposal-plan.ts';
import { MetricFailure } from './replicas-plan.ts';
import { ofContainerResource, ofResource } from './resource-metrics-plan.ts';

/** Maximum number of metrics that are evaluated for one autoscaler; each requires a pass over all pods. */
export const maxMetrics = 100;

const maxReplicas = 2 ** 31 - 1;

/**
 * Returns the proposal of one metric. `reading` is the answer from outside, if the metric is queried there.
 * Throws MetricFailure.
 */
export function proposalOf(metric: MetricSpec, known: Known, reading: Reading): Proposal {
  const proposal = proposed(metric, known, reading);
  return { ...proposal, replicas: Math.min(maxReplicas, Math.max(0, proposal.replicas)) };
}

function proposed(metric: MetricSpec, known: Known, reading: Reading): Proposal {
  const { type, resource, containerResource, pods, object, external } = metric;
  if (type === 'Resource' && resource) return ofResource(resource, known);
  if (type === 'ContainerResource' && containerResource) return ofContainerResource(containerResource, known);
  if (type === 'Pods' && pods) return ofPods(pods, known, reading);
  if (type === 'Object' && object) return ofObject(object, known, reading);
  if (type === 'External' && external) return ofExternal(external, known, reading);
  throw new MetricFailure(`unknown metric source type ${JSON.stringify(type)}`);
}

/** Failure of a metric, with upstream's wording. */
export interface MetricTrouble {
  /** Reason of the condition and of the event. */
  readonly reason: string;
  readonly message: string;
  /** Message for the metric as one of several. */
  readonly among: string;
}

export function troubleOf(metric: MetricSpec, { message }: MetricFailure): MetricTrouble {
  const [reason, whose] = whoseTrouble(metric);
  return {
    reason,
    message,
    among: whose === undefined ? message : `failed to get ${whose} metric value: ${message}`,
  };
}

function whoseTrouble({ type, ...sources }: MetricSpec): readonly [reason: string, whose?: string] {
  switch (type) {
    case 'Resource':
      return ['FailedGetResourceMetric', `${sources.resource?.name} resource`];
    case 'ContainerResource':
      return ['FailedGetContainerResourceMetric', `${sources.containerResource?.container} container`];
    case 'Pods':
      return ['FailedGetPodsMetric', 'pods'];
    case 'Object':
      return ['FailedGetObjectMetric', 'object'];
    case 'External':
      return ['FailedGetExternalMetric', `${sources.external?.metric.name} external`];
    default:
      return ['InvalidMetricSourceType'];
  }
}
