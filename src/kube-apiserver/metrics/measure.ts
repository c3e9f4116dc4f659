/**
 * NodeMetrics and PodMetrics, computed from what kubelets report at the moment (upstream: metrics-server). A
 * node or pod without samples is left out of a list and not found by name.
 */
import { componentStatusResource } from '../../api/core/v1/component-status.ts';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { type NodeMetrics, nodeMetricsResource } from '../../api/metrics/v1beta1/node-metrics.ts';
import { type PodMetrics, podMetricsResource } from '../../api/metrics/v1beta1/pod-metrics.ts';
import { usageOf } from '../../api/metrics/v1beta1/usage.ts';
import type { KubeObject, ObjectMeta } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { MeasureQuery } from '../../apiserver/kind-behavior.ts';
import { selectionOf } from '../../apiserver/reads/selection.ts';
import { rfc3339 } from '../../base/clock.ts';
import type { KubeContext } from '../context.ts';
import { componentStatuses } from './component-statuses.ts';
import type { NodeSamples } from './node-samples.ts';
import type { NodeSample, Use } from './sample.ts';

type Reader = Pick<KubeContext, 'cache' | 'clock' | 'store'>;

/** Interval of the kubelets' readings (kubelet/usage/usage-reader.ts). */
const window = '10s';

export async function measure(
  server: Reader,
  samples: NodeSamples,
  { kind }: ResourceDefinition,
  query: MeasureQuery,
): Promise<readonly KubeObject[]> {
  if (kind === componentStatusResource.kind) return await componentStatuses(server, query);
  return kind === nodeMetricsResource.kind
    ? await measureNodes(server, samples, query)
    : await measurePods(server, samples, query);
}

async function measureNodes(server: Reader, samples: NodeSamples, query: MeasureQuery) {
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

async function measurePods(server: Reader, samples: NodeSamples, query: MeasureQuery) {
  const pods = selected<Pod>(server, podResource as ResourceDefinition, query).filter(
    ({ spec, status }) => spec.nodeName && status?.phase === 'Running',
  );
  const known = await samples.of(pods.map(({ spec }) => spec.nodeName ?? ''));
  return pods.flatMap((pod) => podMetrics(server, pod, known.get(pod.spec.nodeName ?? '')) ?? []);
}

function podMetrics(
  server: Reader,
  { metadata, spec }: Pod,
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

function selected<T extends KubeObject>(
  { cache }: Reader,
  definition: ResourceDefinition,
  { namespace, name, ...selectors }: MeasureQuery,
): T[] {
  const { matches, prefix } = selectionOf(definition, namespace, selectors);
  return cache
    .list(prefix)
    .filter((found) => matches(found) && (name === undefined || found.object.metadata.name === name))
    .map(({ object }) => object as T);
}

/** Returns the metadata: name and labels of the measured object, and the current time. */
const headOf = (
  { group, version, kind }: ResourceDefinition,
  { clock }: Reader,
  { name, namespace, labels }: ObjectMeta,
) => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: {
    name,
    ...(namespace && { namespace }),
    ...(labels && { labels }),
    creationTimestamp: rfc3339(clock.now()),
  },
});

/** Returns the time of the oldest sample. */
const measuredAt = (uses: readonly Use[]) => ({
  timestamp: rfc3339(Math.min(...uses.map(({ at }) => at))),
  window,
});
