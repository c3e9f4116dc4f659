/** /metrics: the agent's own metrics. Pure. */
import type { Family, Sample } from '../../../base/metrics/exposition.ts';
import { gauge } from '../../../base/metrics/metric-family.ts';
import type { ObservedPod } from '../../runtime/observed-pod.ts';
import type { PodReading, UsageSnapshot, VolumeReading } from '../../usage/snapshot.ts';
import { type OwnProcess, processMetrics } from './process-metrics.ts';

export interface AgentMetricsInput {
  readonly nodeName: string;
  readonly version: string;
  /** The observed state of every pod that is bound to this node. */
  readonly observed: readonly ObservedPod[];
  /** Undefined when it could not be read. */
  readonly snapshot: UsageSnapshot | undefined;
  /** Usage of this process. */
  readonly process: OwnProcess;
  /** Metrics of other parts of the agent. */
  readonly counted: readonly Family[];
}

export function agentMetrics(input: AgentMetricsInput): readonly Family[] {
  const { nodeName, version, observed, snapshot, counted } = input;
  const running = observed.filter(({ sandboxes }) => sandboxes.some(({ state }) => state === 'running'));
  const states = Map.groupBy(
    observed.flatMap(({ containers }) => containers),
    ({ state }) => state,
  );
  return [
    gauge('kubernetes_build_info', 'Version that this node reports.', [
      { labels: { git_version: version }, value: 1 },
    ]),
    gauge('kubelet_node_name', "The node's name. The count is always 1.", [
      { labels: { node: nodeName }, value: 1 },
    ]),
    gauge('kubelet_running_pods', 'Number of pods that have a running pod sandbox', [
      { value: running.length },
    ]),
    gauge(
      'kubelet_running_containers',
      'Number of containers by state',
      [...states].map(([state, all]) => ({ labels: { container_state: state }, value: all.length })),
    ),
    gauge('kubelet_desired_pods', 'Number of pods that are bound to this node', [{ value: observed.length }]),
    ...counted,
    ...(snapshot ? volumeMetrics(snapshot.pods) : []),
    ...processMetrics(input.process),
  ];
}

function volumeMetrics(pods: readonly PodReading[]): readonly Family[] {
  const each = (value: (volume: VolumeReading) => number): Sample[] => {
    // A claim that several pods use is reported once.
    const found = new Map<string, Sample>();
    for (const { pod, volumes } of pods) {
      const { namespace = '' } = pod.metadata;
      for (const volume of volumes) {
        if (volume.claim === undefined) continue;
        const labels = { namespace, persistentvolumeclaim: volume.claim };
        found.set(`${namespace}/${volume.claim}`, { labels, value: value(volume) });
      }
    }
    return [...found.values()];
  };
  const of = (name: string, help: string, value: (volume: VolumeReading) => number) =>
    gauge(`kubelet_volume_stats_${name}`, help, each(value));
  return [
    of('capacity_bytes', 'Capacity in bytes of the volume', ({ on }) => on.size),
    of('available_bytes', 'Number of available bytes in the volume', ({ on }) => on.available),
    of('used_bytes', 'Number of used bytes in the volume', ({ size }) => size.bytes),
    of('inodes', 'Maximum number of inodes in the volume', ({ on }) => on.inodes),
    of('inodes_free', 'Number of free inodes in the volume', ({ on }) => on.inodesFree),
    of('inodes_used', 'Number of used inodes in the volume', ({ size }) => size.inodes),
  ];
}
