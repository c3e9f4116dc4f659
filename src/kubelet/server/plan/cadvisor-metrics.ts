/**
 * /metrics/cadvisor, with the names and labels that dashboards use. There is a row for each container (labels
 * `container` and `image`), one for each pod's sandbox with the pod's network (an `image` but no
 * `container`), one for each pod as a whole (neither), and one for the machine (`id` is `/`). Pure.
 */
import type { Family, Sample } from '../../../base/metrics/exposition.ts';
import { counter, gauge } from '../../../base/metrics/metric-family.ts';
import type { NodeFacts } from '../../node/plan/node-status.ts';
import type { CpuUsage, MemoryUsage } from '../../usage/plan/cgroup-files.ts';
import type { InterfaceUsage } from '../../usage/plan/network-files.ts';
import type { ContainerReading, PodReading, UsageSnapshot } from '../../usage/snapshot.ts';
import { together } from './summary.ts';

export interface CadvisorInput {
  /** Undefined when it could not be read. */
  readonly snapshot: UsageSnapshot | undefined;
  readonly facts: Pick<NodeFacts, 'bootID' | 'cpus' | 'machineID' | 'memoryBytes' | 'systemUUID'>;
  /** The image of sandboxes. */
  readonly pauseImage: string;
}

type Labels = Readonly<Record<string, string>>;

interface Row {
  readonly labels: Labels;
  readonly at: number;
  readonly startedAt: number;
  readonly cpu?: Pick<CpuUsage, 'total'> & Partial<CpuUsage>;
  readonly memory?: Partial<MemoryUsage>;
  readonly container?: ContainerReading;
  readonly interfaces?: readonly InterfaceUsage[];
}

const nsPerSecond = 1e9;

export function cadvisorMetrics({ snapshot, facts, pauseImage }: CadvisorInput): readonly Family[] {
  const machine = { boot_id: facts.bootID, machine_id: facts.machineID, system_uuid: facts.systemUUID };
  const failed = [{ value: snapshot ? 0 : 1 }];
  const swap = snapshot && snapshot.node.memory.swapUsage + snapshot.node.memory.swapFree;
  return [
    ...(snapshot ? containers(snapshot, pauseImage) : []),
    gauge('container_scrape_error', '1 if containers could not be read, 0 otherwise', failed),
    gauge('machine_cpu_cores', 'Number of logical CPU cores.', [{ labels: machine, value: facts.cpus }]),
    gauge('machine_memory_bytes', 'Amount of memory installed on the machine.', [
      { labels: machine, value: facts.memoryBytes },
    ]),
    gauge(
      'machine_swap_bytes',
      'Amount of swap memory available on the machine.',
      swap === undefined ? [] : [{ labels: machine, value: swap }],
    ),
    gauge('machine_scrape_error', '1 if the machine could not be read, 0 otherwise', failed),
  ];
}

function containers(snapshot: UsageSnapshot, pauseImage: string): readonly Family[] {
  const rows = rowsOf(snapshot, pauseImage);
  return [
    ...cpuFamilies(rows),
    ...memoryFamilies(rows),
    ...lifeFamilies(rows),
    ...fileSystems(rows, snapshot.node.devices),
    ...networks(rows),
  ];
}

/**
 * Returns the samples of the rows with a value. Rows share their labels, so that the writer formats them
 * once.
 */
function each(rows: readonly Row[], value: (row: Row) => number | undefined, more?: Labels): Sample[] {
  const samples: Sample[] = [];
  for (const row of rows) {
    const found = value(row);
    const labels = more ? { ...row.labels, ...more } : row.labels;
    if (found !== undefined) samples.push({ labels, value: found, at: row.at });
  }
  return samples;
}

const seconds = (ns: number | undefined) => (ns === undefined ? undefined : ns / nsPerSecond);

function cpuFamilies(rows: readonly Row[]): readonly Family[] {
  return [
    counter(
      'container_cpu_usage_seconds_total',
      'Cumulative CPU time consumed in seconds.',
      each(rows, ({ cpu }) => seconds(cpu?.total), { cpu: 'total' }),
    ),
    counter(
      'container_cpu_user_seconds_total',
      'Cumulative user CPU time consumed in seconds.',
      each(rows, ({ cpu }) => seconds(cpu?.user)),
    ),
    counter(
      'container_cpu_system_seconds_total',
      'Cumulative system CPU time consumed in seconds.',
      each(rows, ({ cpu }) => seconds(cpu?.system)),
    ),
    counter(
      'container_cpu_cfs_periods_total',
      'Number of elapsed periods of the CPU limit.',
      each(rows, ({ cpu }) => cpu?.throttling?.periods),
    ),
    counter(
      'container_cpu_cfs_throttled_periods_total',
      'Number of periods in which the container was throttled.',
      each(rows, ({ cpu }) => cpu?.throttling?.throttled),
    ),
    counter(
      'container_cpu_cfs_throttled_seconds_total',
      'Seconds for which the container was throttled by its CPU limit.',
      each(rows, ({ cpu }) => seconds(cpu?.throttling?.throttledNs)),
    ),
  ];
}

function memoryFamilies(rows: readonly Row[]): readonly Family[] {
  const memory = (name: string, help: string, field: keyof MemoryUsage) =>
    gauge(
      name,
      help,
      each(rows, (row) => row.memory?.[field]),
    );
  const faults = (type: string, field: 'pageFaults' | 'majorPageFaults') =>
    each(rows, (row) => row.memory?.[field], { failure_type: type, scope: 'hierarchy' });
  return [
    memory(
      'container_memory_usage_bytes',
      'Current memory usage in bytes, including reclaimable memory.',
      'usage',
    ),
    memory('container_memory_working_set_bytes', 'Current working set in bytes.', 'workingSet'),
    memory('container_memory_rss', 'Size of RSS in bytes.', 'rss'),
    memory('container_memory_cache', 'Bytes of page cache memory.', 'cache'),
    memory('container_memory_mapped_file', 'Bytes of files that are mapped.', 'mapped'),
    memory('container_memory_swap', 'Bytes of swap in use.', 'swap'),
    memory('container_memory_kernel_usage', 'Bytes that the kernel has allocated.', 'kernel'),
    memory('container_memory_max_usage_bytes', 'Maximum memory usage so far, in bytes.', 'most'),
    memory('container_memory_total_active_file_bytes', 'Bytes of active file pages.', 'activeFile'),
    memory('container_memory_total_inactive_file_bytes', 'Bytes of inactive file pages.', 'inactiveFile'),
    counter(
      'container_memory_failcnt',
      'Number of times that the memory limit was hit.',
      each(rows, (row) => row.memory?.failures),
    ),
    counter('container_memory_failures_total', 'Number of page faults.', [
      ...faults('pgfault', 'pageFaults'),
      ...faults('pgmajfault', 'majorPageFaults'),
    ]),
    counter(
      'container_oom_events_total',
      'Number of processes killed for lack of memory.',
      each(rows, (row) => row.memory?.oomKills),
    ),
  ];
}

function lifeFamilies(rows: readonly Row[]): readonly Family[] {
  return [
    gauge(
      'container_spec_memory_limit_bytes',
      'Memory limit in bytes; 0 for none.',
      each(rows, ({ container }) => container && (container.memory.limit ?? 0)),
    ),
    gauge(
      'container_start_time_seconds',
      'When the container was started, in seconds since the epoch.',
      each(rows, ({ startedAt }) => startedAt / 1000),
    ),
    gauge(
      'container_last_seen',
      'When the container was seen last, in seconds since the epoch.',
      each(rows, ({ at }) => Math.floor(at / 1000)),
    ),
    gauge(
      'container_processes',
      'Number of processes and threads in the container.',
      each(rows, ({ container }) => container?.processes),
    ),
  ];
}

function fileSystems(rows: readonly Row[], names: ReadonlyMap<string, string>): readonly Family[] {
  const used = rows.flatMap(({ labels, at, container }) =>
    (container?.devices ?? []).map((device) => {
      const number = `${device.major}:${device.minor}`;
      return { labels: { ...labels, device: names.get(number) ?? number }, device, at };
    }),
  );
  const devices = (field: 'readBytes' | 'writeBytes' | 'reads' | 'writes'): Sample[] =>
    used.map(({ labels, device, at }) => ({ labels, value: device[field], at }));
  const written = rows.flatMap(({ labels, container }) =>
    container?.layer ? [{ labels: { ...labels, device: '' }, layer: container.layer }] : [],
  );
  const layers = (field: 'bytes' | 'inodes'): Sample[] =>
    written.map(({ labels, layer }) => ({ labels, value: layer[field], at: layer.at }));
  return [
    counter('container_fs_reads_bytes_total', 'Cumulative bytes read.', devices('readBytes')),
    counter('container_fs_writes_bytes_total', 'Cumulative bytes written.', devices('writeBytes')),
    counter('container_fs_reads_total', 'Cumulative number of reads.', devices('reads')),
    counter('container_fs_writes_total', 'Cumulative number of writes.', devices('writes')),
    gauge(
      'container_fs_usage_bytes',
      'Bytes that the container has written outside of volumes.',
      layers('bytes'),
    ),
    gauge(
      'container_fs_inodes_used',
      'Files that the container has made outside of volumes.',
      layers('inodes'),
    ),
  ];
}

function networks(rows: readonly Row[]): readonly Family[] {
  const all = rows.flatMap(({ labels, at, interfaces = [] }) =>
    interfaces.map((one) => ({ labels: { ...labels, interface: one.name }, one, at })),
  );
  const of = (name: string, help: string, field: Exclude<keyof InterfaceUsage, 'name'>) =>
    counter(
      `container_network_${name}_total`,
      help,
      all.map(({ labels, one, at }) => ({ labels, value: one[field], at })),
    );
  return [
    of('receive_bytes', 'Cumulative count of bytes received.', 'receivedBytes'),
    of('receive_packets', 'Cumulative count of packets received.', 'receivedPackets'),
    of('receive_packets_dropped', 'Cumulative count of packets dropped while receiving.', 'receiveDrops'),
    of('receive_errors', 'Cumulative count of errors while receiving.', 'receiveErrors'),
    of('transmit_bytes', 'Cumulative count of bytes transmitted.', 'sentBytes'),
    of('transmit_packets', 'Cumulative count of packets transmitted.', 'sentPackets'),
    of('transmit_packets_dropped', 'Cumulative count of packets dropped while transmitting.', 'sendDrops'),
    of('transmit_errors', 'Cumulative count of errors while transmitting.', 'sendErrors'),
  ];
}

/** Labels with empty values: every family has the same labels, as Prometheus requires. */
const none = { container: '', id: '', image: '', name: '', namespace: '', pod: '' };

function rowsOf({ node, pods }: UsageSnapshot, pauseImage: string): readonly Row[] {
  const machine: Row = {
    labels: { ...none, id: '/' },
    at: node.at,
    startedAt: node.bootedAt,
    cpu: node.cpu,
    memory: node.memory,
    interfaces: node.interfaces,
  };
  return [machine, ...pods.flatMap((pod) => podRows(pod, pauseImage))];
}

function podRows(reading: PodReading, pauseImage: string): readonly Row[] {
  const { pod, containers: all, sandbox, at, startedAt, cpu, interfaces } = reading;
  const { uid, name, namespace = '' } = pod.metadata;
  const own = { ...none, namespace, pod: name };
  const rowOf = (container: ContainerReading, labels: Labels): Row => ({
    labels: { ...labels, id: container.path, name: container.fullName },
    ...{ at: container.at, startedAt: container.startedAt },
    ...{ cpu: container.cpu, memory: container.memory, container },
  });
  return [
    {
      labels: { ...own, id: `/kubepods/pod${uid}` },
      ...{ at, startedAt, cpu: { total: cpu.total }, memory: together(reading) },
    },
    ...(sandbox
      ? [{ ...rowOf(sandbox, { ...own, image: pauseImage }), ...(interfaces && { interfaces }) }]
      : []),
    ...all.map((container) =>
      rowOf(container, { ...own, container: container.name, image: container.image }),
    ),
  ];
}
