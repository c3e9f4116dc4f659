/**
 * One sync of a thousand HorizontalPodAutoscalers in one namespace, each for three pods: the processor time
 * of the decisions, with the usage of the pods available, and nothing to change. Requests are answered in
 * this process; the cost of agents and Prometheus is not included.
 */
import { deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import {
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalerResource,
} from '../../../src/api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import type { MetricSpec } from '../../../src/api/autoscaling/v2/types.gen.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { podMetricsResource } from '../../../src/api/metrics/v1beta1/pod-metrics.ts';
import { horizontalController } from '../../../src/controllers/autoscaling/horizontal.ts';
import { usualQueries } from '../../../src/controllers/autoscaling/metric-query-plan.ts';
import { at, container, deployment, meta, pod } from '../../unit/controllers/objects.ts';
import { ScriptedWorld } from '../../unit/controllers/scripted-world.ts';
import { type Benchmark, median, type Row } from '../report.ts';

const autoscalers = 1000;
const podsOfEach = 3;
const periods = 9;

const target = { type: 'Utilization', averageUtilization: 50 };
const ofCpu: MetricSpec = { type: 'Resource', resource: { name: 'cpu', target } };
const ofPods: MetricSpec = {
  type: 'Pods',
  pods: { metric: { name: 'requests' }, target: { type: 'AverageValue', averageValue: '500m' } },
};

const names = Array.from({ length: autoscalers }, (_, index) => `app-${index}`);

const autoscaler = (name: string, metrics: MetricSpec[]): HorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: meta(name),
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    minReplicas: 1,
    maxReplicas: 10,
    metrics,
  },
});

function worldOf(metrics: MetricSpec[]): ScriptedWorld {
  const ask = async (query: string) =>
    [...(query.match(/app-\d+-\d+/g) ?? [])].map((name) => ({ labels: { pod: name }, value: 0.5 }));
  const world = new ScriptedWorld(horizontalController({ metricSource: { queries: usualQueries, ask } }));
  for (const name of names) {
    const labels = { app: name };
    const { spec, ...rest } = deployment(podsOfEach);
    const selector = { matchLabels: labels };
    const status = { replicas: podsOfEach };
    world.put(deploymentResource, { ...rest, metadata: meta(name), spec: { ...spec, selector }, status });
    for (let n = 0; n < podsOfEach; n++) put(world, `${name}-${n}`, labels);
    world.put(horizontalPodAutoscalerResource, autoscaler(name, metrics));
  }
  return world;
}

function put(world: ScriptedWorld, name: string, labels: Record<string, string>): void {
  const spec = { containers: [container({ resources: { requests: { cpu: '1' } } })] };
  const one = pod(name, { readyAt: -7200, spec });
  const status = { ...one.status, startTime: at(-7200) };
  world.put(podResource, { ...one, metadata: { ...one.metadata, labels }, status });
  world.put(podMetricsResource, {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: meta(name),
    timestamp: at(0),
    window: '10s',
    containers: [{ name: 'app', usage: { cpu: '500m', memory: '1Mi' } }],
  } as never);
}

/** Returns the median processor time of a period in milliseconds. */
async function cpuOf(metrics: MetricSpec[]): Promise<number> {
  const world = worldOf(metrics);
  const spent: number[] = [];
  // The first two periods write the status that stays the same from then on.
  for (let period = -2; period < periods; period++) {
    const before = process.cpuUsage();
    for (const name of names) await world.reconcile(`default/${name}`);
    const { user, system } = process.cpuUsage(before);
    if (period >= 0) spent.push((user + system) / 1000);
    world.sync(horizontalPodAutoscalerResource);
    await world.clock.advance(15_000);
  }
  const [held] = names.map((name) => world.stored(deploymentResource, `default/${name}`)?.spec.replicas);
  const active = world
    .stored(horizontalPodAutoscalerResource, 'default/app-0')
    ?.status?.conditions?.find(({ type }) => type === 'ScalingActive');
  if (held !== podsOfEach || active?.status !== 'True')
    throw new Error(`the autoscalers are not at rest: ${held} replicas, ${active?.message}`);
  return median(spent);
}

const row = (what: string, value: number): Row => ({
  what: `${autoscalers.toLocaleString('en')} autoscalers of ${podsOfEach} pods each decided, ${what}: processor time of a period`,
  ...{ value, unit: 'ms', target: '< 200', met: value < 200 },
});

export const autoscaling: Benchmark = {
  name: 'autoscalers',
  run: async () => [row('by CPU', await cpuOf([ofCpu])), row('by a metric of pods', await cpuOf([ofPods]))],
};
