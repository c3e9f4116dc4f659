/** /metrics/resource, which metrics-server reads. Pure. */
import type { Family, Sample } from '../../../base/metrics/exposition.ts';
import { counter, gauge } from '../../../base/metrics/metric-family.ts';
import type { ContainerReading, PodReading, UsageSnapshot } from '../../usage/snapshot.ts';
import { together } from './summary.ts';

const nsPerSecond = 1e9;

/**
 * Returns the metrics. A snapshot of undefined means that the usage could not be read: then only the error
 * metrics are returned.
 */
export function resourceMetrics(snapshot: UsageSnapshot | undefined): readonly Family[] {
  const failed = snapshot ? 0 : 1;
  return [
    ...(snapshot ? usage(snapshot) : []),
    gauge('scrape_error', '1 if there was an error while getting container metrics, 0 otherwise', [
      { value: failed },
    ]),
    gauge('resource_scrape_error', '1 if there was an error while getting container metrics, 0 otherwise', [
      { value: failed },
    ]),
  ];
}

function usage({ node, pods }: UsageSnapshot): readonly Family[] {
  const perContainer = (sample: (container: ContainerReading) => Omit<Sample, 'labels'>): Sample[] =>
    pods.flatMap((reading) =>
      reading.containers.map((container) => ({
        labels: { container: container.name, ...podLabels(reading) },
        ...sample(container),
      })),
    );
  const perPod = (value: (pod: PodReading) => number): Sample[] =>
    pods.map((pod) => ({ labels: podLabels(pod), value: value(pod), at: pod.at }));
  return [
    counter('node_cpu_usage_seconds_total', 'Cumulative CPU time that the node has used, in core-seconds', [
      { value: node.cpu.total / nsPerSecond, at: node.cpu.at },
    ]),
    gauge('node_memory_working_set_bytes', 'Current working set of the node in bytes', [
      { value: node.memory.workingSet, at: node.at },
    ]),
    gauge('node_swap_usage_bytes', 'Current swap usage of the node in bytes', [
      { value: node.memory.swapUsage, at: node.at },
    ]),
    gauge(
      'container_start_time_seconds',
      'When the container was started, in seconds since the epoch',
      perContainer(({ startedAt }) => ({ value: startedAt / 1000 })),
    ),
    counter(
      'container_cpu_usage_seconds_total',
      'Cumulative CPU time that the container has used, in core-seconds',
      perContainer(({ cpu }) => ({ value: cpu.total / nsPerSecond, at: cpu.at })),
    ),
    gauge(
      'container_memory_working_set_bytes',
      'Current working set of the container in bytes',
      perContainer(({ memory, at }) => ({ value: memory.workingSet, at })),
    ),
    gauge(
      'container_swap_usage_bytes',
      'Current swap usage of the container in bytes',
      perContainer(({ memory, at }) => ({ value: memory.swap, at })),
    ),
    counter(
      'pod_cpu_usage_seconds_total',
      'Cumulative CPU time that the pod has used, in core-seconds',
      perPod(({ cpu }) => cpu.total / nsPerSecond),
    ),
    gauge(
      'pod_memory_working_set_bytes',
      'Current working set of the pod in bytes',
      perPod((pod) => together(pod).workingSet),
    ),
    gauge(
      'pod_swap_usage_bytes',
      'Current swap usage of the pod in bytes',
      perPod((pod) => together(pod).swap),
    ),
  ];
}

const podLabels = ({ pod: { metadata } }: PodReading) => ({
  pod: metadata.name,
  namespace: metadata.namespace ?? '',
});
