/** Metrics of the resource usage of pods and their containers. The wording is upstream's. Pure. */
import type {
  ContainerResourceMetricSource,
  MetricTarget,
  MetricValueStatus,
  ResourceMetricSource,
} from '../../api/autoscaling/v2/types.gen.ts';
import type { PodMetrics } from '../../api/metrics/v1beta1/pod-metrics.ts';
import { type Known, milliOf, milliText, type Proposal } from './proposal-plan.ts';
import {
  type Answer,
  amountIn,
  failing,
  MetricFailure,
  type PodUse,
  replicasByAverage,
  replicasByUtilization,
  requestOf,
} from './replicas-plan.ts';

/** Returns the proposal of a resource metric. Throws MetricFailure. */
export function ofResource({ name, target }: ResourceMetricSource, known: Known): Proposal {
  const { answer, current, percent } = ofUse(name, undefined, target, known);
  const status = { type: 'Resource', resource: { name, current } };
  return { replicas: answer.replicas, status, name: `${name} resource${percent}` };
}

/** Returns the proposal of a container resource metric. Throws MetricFailure. */
export function ofContainerResource(
  { name, container, target }: ContainerResourceMetricSource,
  known: Known,
): Proposal {
  const { answer, current, percent } = ofUse(name, container, target, known);
  const status = { type: 'ContainerResource', containerResource: { name, container, current } };
  return { replicas: answer.replicas, status, name: `${name} container resource${percent}` };
}

function ofUse(name: string, container: string | undefined, target: MetricTarget, known: Known) {
  const { averageUtilization, averageValue } = target;
  if (averageValue === undefined && averageUtilization === undefined)
    throw new MetricFailure(
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    );
  const what = averageValue === undefined ? 'utilization' : 'usage';
  return failing(`failed to get ${name} ${what}`, () => {
    const uses = failing(`unable to get metrics for resource ${name}`, () => usesOf(name, container, known));
    const question = { ...known, isCpu: name === 'cpu', sample: { pods: known.pods, uses } };
    const answer =
      averageValue === undefined
        ? replicasByUtilization(question, averageUtilization ?? 0, (pod) => requestOf(pod, name, container))
        : replicasByAverage(question, milliOf(averageValue));
    const percent = averageValue === undefined ? ' utilization (percentage of request)' : '';
    return { answer, current: valuesOf(answer), percent };
  });
}

const valuesOf = ({ average, utilization }: Answer): MetricValueStatus => ({
  ...(utilization !== undefined && { averageUtilization: utilization }),
  averageValue: milliText(average),
});

/**
 * Returns the usage of each pod: the sum over its containers, or one container. Pods without a value for a
 * container are omitted.
 */
function usesOf(
  resource: string,
  container: string | undefined,
  { pods, metrics }: Known,
): ReadonlyMap<string, PodUse> {
  if (typeof metrics === 'string')
    throw new MetricFailure(`unable to fetch metrics from resource metrics API: ${metrics}`);
  const found = pods.flatMap(({ metadata }) => {
    const one = metrics.get(`${metadata.namespace}/${metadata.name}`);
    return one ? [one] : [];
  });
  if (found.length === 0 && pods.length > 0)
    throw new MetricFailure('no metrics returned from resource metrics API');
  const [first] = found;
  const isThere = found.some(({ containers }) => containers.some(({ name }) => name === container));
  if (container !== undefined && first && !isThere)
    throw new MetricFailure(
      `failed to get container metrics: container ${container} not present in metrics for pod ${first.metadata.namespace}/${first.metadata.name}`,
    );
  return new Map(
    found.flatMap((one): [string, PodUse][] => {
      const value = amountOf(one, resource, container);
      if (value === undefined) return [];
      const windowMs = Number.parseFloat(one.window) * 1000;
      return [[one.metadata.name, { value, at: Date.parse(one.timestamp), windowMs }]];
    }),
  );
}

function amountOf(
  { containers }: PodMetrics,
  resource: string,
  container: string | undefined,
): number | undefined {
  const counted = container === undefined ? containers : containers.filter(({ name }) => name === container);
  if (counted.length === 0) return undefined;
  let total = 0;
  for (const { usage } of counted) {
    const text = amountIn({ ...usage }, resource);
    if (text === undefined) return undefined;
    total += milliOf(text);
  }
  return total;
}
