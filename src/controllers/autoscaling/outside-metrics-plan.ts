/**
 * Metrics that are queried outside of the cluster: of its pods, of an object, or external ones. The wording
 * is upstream's. Pure.
 */
import type {
  ExternalMetricSource,
  MetricTarget,
  MetricValueStatus,
  ObjectMetricSource,
  PodsMetricSource,
} from '../../api/autoscaling/v2/types.gen.ts';
import type { LabelSelector } from '../../apimachinery/schema.ts';
import { type Known, milliOf, milliText, type Proposal, type Reading } from './proposal-plan.ts';
import { type Series, sumOf, usesFrom } from './readings-plan.ts';
import { failing, MetricFailure, replicasByAverage } from './replicas-plan.ts';
import { replicasByShare, replicasByValue } from './value-plan.ts';

/** Returns the proposal of a pods metric. Throws MetricFailure, as the other functions of this file do. */
export function ofPods({ metric, target }: PodsMetricSource, known: Known, reading: Reading): Proposal {
  const { pods, podLabel, now } = known;
  const uses = failing(`unable to get metric ${metric.name}`, () => {
    const all = usesFrom(seriesOf(reading, 'custom'), podLabel, now);
    if (all.size === 0) throw new MetricFailure('no metrics returned from custom metrics API');
    return all;
  });
  // Readings of pods that do not belong to the target are ignored.
  const answer = replicasByAverage(
    { ...known, isCpu: false, sample: { pods, uses } },
    milliOf(target.averageValue ?? '0'),
  );
  const status = { type: 'Pods', pods: { metric, current: { averageValue: milliText(answer.average) } } };
  return { replicas: answer.replicas, status, name: `pods metric ${metric.name}` };
}

export function ofObject(
  { metric, describedObject, target }: ObjectMetricSource,
  known: Known,
  reading: Reading,
): Proposal {
  const { kind, name } = describedObject;
  const read = () =>
    failing(
      `unable to get metric ${metric.name}`,
      () => oneValue(seriesOf(reading, 'custom'), 'custom'),
      ` on ${kind} ${known.namespace}/${name}`,
    );
  const isShare = target.type === 'AverageValue' && target.averageValue !== undefined;
  if (!isShare && (target.type !== 'Value' || target.value === undefined))
    throw new MetricFailure(
      'invalid object metric source: neither a value target nor an average value target was set',
    );
  const value = isShare ? failing(`failed to get ${metric.name} object metric`, read) : read();
  const { replicas, current } = byTarget(value, target, isShare, known);
  return {
    replicas,
    status: { type: 'Object', object: { describedObject, metric, current } },
    name: isShare
      ? `external metric ${metric.name}(${selectorText(metric.selector)})`
      : `${kind} metric ${metric.name}`,
  };
}

export function ofExternal(
  { metric, target }: ExternalMetricSource,
  known: Known,
  reading: Reading,
): Proposal {
  const { name, selector } = metric;
  const isShare = target.averageValue !== undefined;
  if (!isShare && target.value === undefined)
    throw new MetricFailure(
      'invalid external metric source: neither a value target nor an average value target was set',
    );
  const failure = isShare ? `failed to get ${name} external metric` : `failed to get external metric ${name}`;
  return failing(failure, () => {
    const doing = `unable to get external metric ${known.namespace}/${name}/${selectorText(selector)}`;
    const value = failing(doing, () => oneValue(seriesOf(reading, 'external'), 'external'));
    const { replicas, current } = byTarget(value, target, isShare, known);
    return {
      replicas,
      status: { type: 'External', external: { metric, current } },
      name: `external metric ${name}(${selectorText(selector)})`,
    };
  });
}

function byTarget(
  value: number,
  target: MetricTarget,
  isShare: boolean,
  { tolerance, currentReplicas, statusReplicas, pods }: Known,
): { readonly replicas: number; readonly current: MetricValueStatus } {
  if (!isShare) {
    const question = { value, target: milliOf(target.value ?? '0'), tolerance };
    const replicas = replicasByValue(question, currentReplicas, pods);
    return { replicas, current: { value: milliText(value) } };
  }
  const question = { value, target: milliOf(target.averageValue ?? '0'), tolerance };
  const { replicas, average } = replicasByShare(question, statusReplicas);
  return { replicas, current: { averageValue: milliText(average) } };
}

type Api = 'custom' | 'external';

function seriesOf(reading: Reading, api: Api): readonly Series[] {
  if (typeof reading === 'string')
    throw new MetricFailure(`unable to fetch metrics from ${api} metrics API: ${reading}`);
  return reading;
}

function oneValue(series: readonly Series[], api: Api): number {
  const value = sumOf(series);
  if (value === undefined) throw new MetricFailure(`no metrics returned from ${api} metrics API`);
  return value;
}

/** Formats a selector as Go prints it. */
function selectorText(selector: LabelSelector | undefined): string {
  if (!selector) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.map(([key, value]) => `${key}: ${value},`).join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
