/** /metrics: how the agent itself does. Pure. */
import type { Family, Sample } from '../../../base/exposition.ts';
import type { ObservedPod } from '../../runtime/observed-pod.ts';
import type { PodReading, UsageSnapshot, VolumeReading } from '../../usage/snapshot.ts';
import { counter, gauge } from './metric-family.ts';

export interface AgentMetricsInput {
  readonly nodeName: string;
  readonly version: string;
  /** Of every pod that is bound here. */
  readonly observed: readonly ObservedPod[];
  /** Undefined: it could not be read. */
  readonly snapshot: UsageSnapshot | undefined;
  /** Of this process. */
  readonly openFiles: number | undefined;
  readonly mostFiles: number | undefined;
  /** What others of the agent count. */
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
    gauge('kubernetes_build_info', 'The version that this node says it is.', [
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
    ...(snapshot ? [...volumeMetrics(snapshot.pods), ...processMetrics(snapshot, input)] : []),
  ];
}

function volumeMetrics(pods: readonly PodReading[]): readonly Family[] {
  const each = (value: (volume: VolumeReading) => number): Sample[] => {
    // A claim that several pods use is told once.
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

function processMetrics({ node: { agent } }: UsageSnapshot, input: AgentMetricsInput): readonly Family[] {
  const one = (value: number | undefined): Sample[] => (value === undefined ? [] : [{ value }]);
  return [
    counter(
      'process_cpu_seconds_total',
      'Total user and system CPU time spent in seconds.',
      one(agent.cpu / 1e9),
    ),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', one(agent.resident)),
    gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', one(agent.virtual)),
    gauge(
      'process_start_time_seconds',
      'Start time of the process since unix epoch in seconds.',
      one(agent.startedAt / 1000),
    ),
    gauge('process_open_fds', 'Number of open file descriptors.', one(input.openFiles)),
    gauge('process_max_fds', 'Maximum number of open file descriptors.', one(input.mostFiles)),
  ];
}
