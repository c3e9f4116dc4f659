/** Autoscalers in five forms of target, metrics and interval. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { parseDuration } from '../../base/time.ts';
import { recordAt } from '../objects/objects.ts';
import type { Fields } from './fields.ts';
import { asName } from './workflows.ts';

/**
 * Pods of the same input by name. A pod that an autoscaler names becomes the template of the Deployment to
 * scale.
 */
export type Pods = ReadonlyMap<string, JsonObject>;

interface Converted {
  readonly spec: JsonObject;
  readonly annotations: JsonObject;
  /** The workload to scale, if the autoscaler contains it. */
  readonly deployment?: { readonly name: string; readonly template: JsonObject };
}

const intervalAnnotation = 'minik8s.io/scale-interval-seconds';

/** Returns the converted autoscaler. Throws if the target or the metrics are missing. */
export function autoscaler(name: string, spec: Fields, pods: Pods): Converted {
  const target = targetOf(name, spec, pods);
  const interval = secondsOf(spec.take('scaleInterval', 'interval', 'adjustInterval'));
  spec.drop('selector', 'the workload has a selector of its own');
  const metrics = metricsOf(spec);
  if (metrics.length === 0) throw new Error('spec.metrics: expected a metric to scale by');
  const [behavior, minReplicas] = [spec.take('behavior'), spec.take('minReplicas')];
  return {
    spec: {
      scaleTargetRef: target.ref,
      ...(minReplicas !== undefined && { minReplicas }),
      maxReplicas: spec.take('maxReplicas'),
      metrics,
      ...(behavior !== undefined && { behavior }),
    },
    annotations: interval === undefined ? {} : { [intervalAnnotation]: String(interval) },
    ...(target.deployment && { deployment: target.deployment }),
  };
}

function targetOf(own: string, spec: Fields, pods: Pods) {
  const refer = (kind: string, name: string, apiVersion = 'apps/v1') => ({ apiVersion, kind, name });
  const template = spec.take('template');
  if (isRecord(template)) {
    spec.note('template', `becomes a Deployment named ${own}`);
    return { ref: refer('Deployment', own), deployment: { name: own, template } };
  }
  const target = spec.part('scaleTargetRef', 'workload');
  const metadata = target.part('metadata');
  const kind = target.text('kind') ?? 'Deployment';
  const given = target.text('name') ?? metadata.text('name');
  const apiVersion = target.text('apiVersion');
  metadata.drop('namespace', 'the workload is in the namespace of the autoscaler');
  if (given === undefined) throw new Error('spec.scaleTargetRef: expected the name of a workload to scale');
  const name = asName(given);
  if (kind.toLowerCase() !== 'pod') {
    const known = knownKind(kind);
    return { ref: known ? refer(known, name) : refer(kind, name, apiVersion) };
  }
  const pod = pods.get(name);
  if (!pod)
    throw new Error(
      `spec.scaleTargetRef: a single pod has no number of replicas; give the manifest of pod ${name} too (-f), and it becomes a Deployment`,
    );
  target.note('kind', `pod ${name} becomes a Deployment of that name`);
  const { labels } = recordAt(pod, 'metadata');
  return {
    ref: refer('Deployment', name),
    deployment: { name, template: { metadata: { labels: labels ?? {} }, spec: recordAt(pod, 'spec') } },
  };
}

/** Returns the kind of apps/v1 that can be scaled, in its usual spelling; undefined for another kind. */
const knownKind = (kind: string) =>
  ['Deployment', 'ReplicaSet', 'StatefulSet'].find((one) => one.toLowerCase() === kind.toLowerCase());

/** Reads `15` or `15s` as whole seconds, limited to the range that is allowed. */
function secondsOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const ms = typeof value === 'number' ? value * 1000 : parseDuration(String(value));
  if (ms === undefined) throw new Error(`spec: ${JSON.stringify(value)} is not an interval`);
  return Math.min(Math.max(Math.round(ms / 1000), 1), 3600);
}

/** Reads the metrics; a list is Kubernetes' own form. */
function metricsOf(spec: Fields): unknown[] {
  const list = spec.has('metrics') && spec.take('metrics');
  if (Array.isArray(list)) return list.map((one, index) => withAmount(one, index, spec));
  const cpu = spec.take('targetCPUUtilizationPercentage');
  if (cpu !== undefined) return [resource('cpu', { type: 'Utilization', averageUtilization: cpu })];
  const metrics = spec.part('metrics');
  const shares = [
    ['cpu', metrics.take('cpuPercent')],
    ['memory', metrics.take('memPercent', 'memoryPercent')],
  ] as const;
  const bounds = [
    ['cpu', 'CPU'],
    ['memory', 'memory'],
  ] as const;
  return [
    ...shares.flatMap(([name, value]) => (value === undefined ? [] : [byShare(metrics, name, value)])),
    ...bounds.flatMap(([name, field]) => (metrics.has(field) ? byAmount(metrics, name, field) : [])),
  ];
}

/** Converts a utilization such as `2M`, which is an amount and not a percentage. */
function withAmount(metric: unknown, index: number, spec: Fields): unknown {
  const { averageUtilization, ...target } = recordAt(metric, 'resource', 'target');
  if (!isRecord(metric) || typeof averageUtilization !== 'string' || /^\d+$/.test(averageUtilization))
    return metric;
  spec.note(
    `metrics[${index}].resource.target.averageUtilization`,
    'becomes averageValue: it is not a percentage',
  );
  const changed = { ...target, type: 'AverageValue', averageValue: averageUtilization };
  return { ...metric, resource: { ...recordAt(metric, 'resource'), target: changed } };
}

const resource = (name: string, target: JsonObject) => ({ type: 'Resource', resource: { name, target } });

/**
 * Returns a utilization metric, relative to the containers' requests. A value up to one is a fraction, a
 * larger one is a percentage.
 */
function byShare(metrics: Fields, name: string, value: unknown): JsonObject {
  const number = Number(value);
  if (!(number > 0))
    throw new Error(
      `spec.metrics: ${JSON.stringify(value)} of ${name} is neither a fraction nor a percentage`,
    );
  metrics.note(name, 'is a share of resources.requests, which each container must have');
  const averageUtilization = Math.max(1, Math.round(number <= 1 ? number * 100 : number));
  return resource(name, { type: 'Utilization', averageUtilization });
}

/**
 * Returns a metric for two bounds, of which the upper one becomes Kubernetes' target. -1 means no bound;
 * processors are in thousandths.
 */
function byAmount(metrics: Fields, name: string, field: string): JsonObject[] {
  const bounds = metrics.part(field);
  const upper = bounds.text('targetMaxValue');
  bounds.drop('targetMinValue', 'Kubernetes has one target, and scales down below it');
  if (upper === undefined || Number(upper) <= 0) return [];
  const averageValue = name === 'cpu' && /^\d+$/.test(upper) ? `${upper}m` : upper;
  return [resource(name, { type: 'AverageValue', averageValue })];
}
