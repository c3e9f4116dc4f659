/**
 * Objects that are computed for each request. NodeMetrics and PodMetrics are computed from what kubelets
 * report at the moment (upstream: metrics-server): a node or pod without samples is left out of a list and
 * not found by name.
 */
import { componentStatusResource } from '../../api/core/v1/component-status.ts';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { type NodeMetrics, nodeMetricsResource } from '../../api/metrics/v1beta1/node-metrics.ts';
import { type PodMetrics, podMetricsResource } from '../../api/metrics/v1beta1/pod-metrics.ts';
import { usageOf } from '../../api/metrics/v1beta1/usage.ts';
import { serviceTrafficResource } from '../../api/traffic/v1/service-traffic.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { MeasureQuery } from '../../apiserver/kind-behavior.ts';
import { rfc3339 } from '../../base/clock.ts';
import type { KubeContext } from '../context.ts';
import { componentStatuses } from './component-statuses.ts';
import { headOf, type Reader, selected } from './measured-objects.ts';
import { type MeasuredPod, MeasuredPods } from './measured-pods.ts';
import { NodeSamples } from './node-samples.ts';
import { type NodeSample, sampleOf, type Use, usagePath } from './sample.ts';
import { measureServices } from './service-traffic.ts';
import { trafficOf, trafficPath } from './traffic-sample.ts';

/** Interval of the kubelets' readings (kubelet/usage/usage-reader.ts). */
const window = '10s';

type Measure = (definition: ResourceDefinition, query: MeasureQuery) => Promise<readonly KubeObject[]>;

/** Returns a function that computes the objects of a measured kind that a query selects. */
export function createMeasure(server: KubeContext): Measure {
  const { clock, log, nodeConnection: connection } = server;
  const reports = { connection, clock, log };
  const usage = new NodeSamples({ ...reports, path: usagePath, parse: sampleOf });
  const traffic = new NodeSamples({ ...reports, path: trafficPath, parse: trafficOf });
  const pods = new MeasuredPods(server);
  const measures: Readonly<Record<string, (query: MeasureQuery) => Promise<readonly KubeObject[]>>> = {
    [componentStatusResource.kind]: (query) => componentStatuses(server, query),
    [nodeMetricsResource.kind]: (query) => measureNodes(server, usage, query),
    [podMetricsResource.kind]: (query) => measurePods(server, usage, pods, query),
    [serviceTrafficResource.kind]: (query) => measureServices(server, traffic, query),
  };
  return async ({ kind }, query) => (await measures[kind]?.(query)) ?? [];
}

async function measureNodes(server: Reader, samples: NodeSamples<NodeSample>, query: MeasureQuery) {
  const nodes = selected<Node>(server, nodeResource as ResourceDefinition, query);
  const known = await samples.of(nodes.map(({ metadata }) => metadata.name));
  return nodes.flatMap((node) => nodeMetrics(server, node, known.get(node.metadata.name)) ?? []);
}

function nodeMetrics(server: Reader, node: Node, sample: NodeSample | undefined): NodeMetrics | undefined {
  if (!sample?.node) return undefined;
  return {
    ...headOf(nodeMetricsResource, server, node.metadata),
    ...measuredAt([sample.node]),
    usage: usageOf(sample.node),
  } as NodeMetrics;
}

async function measurePods(
  server: Reader,
  samples: NodeSamples<NodeSample>,
  all: MeasuredPods,
  query: MeasureQuery,
) {
  const pods = (await all.list(query)).filter(
    ({ spec, status }) => spec.nodeName && status?.phase === 'Running',
  );
  const known = await samples.of(pods.map(({ spec }) => spec.nodeName ?? ''));
  return pods.flatMap((pod) => podMetrics(server, pod, known.get(pod.spec.nodeName ?? '')) ?? []);
}

function podMetrics(
  server: Reader,
  { metadata, spec }: MeasuredPod,
  sample: NodeSample | undefined,
): PodMetrics | undefined {
  const measured = sample?.pods.get(metadata.uid)?.containers;
  // Containers that the pod does not have are left out, even if the kubelet reports them.
  const own = new Set([...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) => name));
  const containers = new Map([...(measured ?? [])].filter(([name]) => own.has(name)));
  if (containers.size === 0) return undefined;
  return {
    ...headOf(podMetricsResource, server, metadata),
    ...measuredAt([...containers.values()]),
    containers: [...containers].map(([name, use]) => ({ name, usage: usageOf(use) })),
  } as PodMetrics;
}

/** Returns the time of the oldest sample. */
const measuredAt = (uses: readonly Use[]) => ({
  timestamp: rfc3339(Math.min(...uses.map(({ at }) => at))),
  window,
});
