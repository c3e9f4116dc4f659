/** /stats/summary, in the form of k8s.io/kubelet/pkg/apis/stats/v1alpha1. Pure. */
import { rfc3339 } from '../../../base/time.ts';
import type { NodeUsage } from '../../node/plan/eviction-thresholds.ts';
import type { DirectorySize } from '../../usage/directory-sizes.ts';
import type { MemoryUsage } from '../../usage/plan/cgroup-files.ts';
import type { CpuReading } from '../../usage/plan/cpu-history.ts';
import { type InterfaceUsage, mainInterface } from '../../usage/plan/network-files.ts';
import type {
  ContainerReading,
  FileSystem,
  NodeReading,
  PodReading,
  UsageSnapshot,
} from '../../usage/snapshot.ts';

export interface SummaryInput {
  readonly nodeName: string;
  readonly snapshot: UsageSnapshot;
  readonly node: NodeUsage;
  /** True for CPU and memory only, as requested by `?only_cpu_and_memory=true`. */
  readonly onlyCpuAndMemory: boolean;
}

export function summary({ nodeName, snapshot, node, onlyCpuAndMemory }: SummaryInput): object {
  const full = !onlyCpuAndMemory;
  const { node: reading, pods, at } = snapshot;
  const time = rfc3339(at);
  const imageFs = fileSystem(time, node.imagefs ?? node.nodefs);
  return {
    node: {
      nodeName,
      systemContainers: [agentOf(reading), podsOf(snapshot)],
      startTime: rfc3339(reading.bootedAt),
      cpu: cpuOf(reading.cpu),
      memory: {
        time: rfc3339(reading.at),
        availableBytes: Math.max(0, node.memory.size - reading.memory.workingSet),
        usageBytes: reading.memory.usage,
        workingSetBytes: reading.memory.workingSet,
        rssBytes: reading.memory.rss,
        pageFaults: reading.memory.pageFaults,
        majorPageFaults: reading.memory.majorPageFaults,
      },
      swap: {
        time: rfc3339(reading.at),
        swapAvailableBytes: reading.memory.swapFree,
        swapUsageBytes: reading.memory.swapUsage,
      },
      ...(full && {
        network: networkOf(rfc3339(reading.at), reading.interfaces),
        fs: fileSystem(time, node.nodefs),
        runtime: { imageFs, containerFs: imageFs },
        rlimit: { time, maxpid: node.pids.size, curproc: node.pids.size - node.pids.available },
      }),
    },
    pods: pods.map((pod) => podOf(pod, node, full)),
  };
}

const cpuOf = ({ at, total, rate }: CpuReading) => ({
  time: rfc3339(at),
  ...(rate !== undefined && { usageNanoCores: rate }),
  usageCoreNanoSeconds: total,
});

const memoryOf = (at: number, memory: MemoryUsage) => ({
  time: rfc3339(at),
  ...(memory.limit !== undefined && { availableBytes: Math.max(0, memory.limit - memory.workingSet) }),
  usageBytes: memory.usage,
  workingSetBytes: memory.workingSet,
  rssBytes: memory.rss,
  pageFaults: memory.pageFaults,
  majorPageFaults: memory.majorPageFaults,
});

function podOf(reading: PodReading, node: NodeUsage, full: boolean): object {
  const { pod, containers, sandbox, at, interfaces, volumes } = reading;
  const { name, namespace = '', uid } = pod.metadata;
  const all = sandbox ? [...containers, sandbox] : containers;
  const processes = all.flatMap(({ processes: count }) => count ?? []);
  return {
    podRef: { name, namespace, uid },
    startTime: rfc3339(reading.startedAt),
    containers: containers.map((container) => containerOf(container, node, full)),
    cpu: cpuOf(reading.cpu),
    memory: memoryOf(at, together(reading)),
    swap: { time: rfc3339(at), swapUsageBytes: sum(all, ({ memory }) => memory.swap) },
    ...(full && {
      ...(interfaces && { network: networkOf(rfc3339(at), interfaces) }),
      ...(volumes.length > 0 && {
        volume: volumes.map(({ name: volume, claim, size, on }) => ({
          ...used(size, on),
          name: volume,
          ...(claim !== undefined && { pvcRef: { name: claim, namespace } }),
        })),
      }),
      ...ephemeralStorage(reading, node),
      ...(processes.length > 0 && { process_stats: { process_count: sum(processes, (count) => count) } }),
    }),
  };
}

function containerOf(container: ContainerReading, node: NodeUsage, full: boolean): object {
  const { name, startedAt, at, cpu, memory, layer, log } = container;
  return {
    name,
    startTime: rfc3339(startedAt),
    cpu: cpuOf(cpu),
    memory: memoryOf(at, memory),
    swap: { time: rfc3339(at), swapUsageBytes: memory.swap },
    ...(full && {
      ...(layer && { rootfs: used(layer, node.imagefs ?? node.nodefs) }),
      ...(log && { logs: used(log, node.imagefs ?? node.nodefs) }),
    }),
  };
}

/** Returns the memory usage of a pod as a whole; it has a limit only when each of its containers has one. */
export function together({ containers, sandbox }: PodReading): MemoryUsage {
  const all = (sandbox ? [...containers, sandbox] : containers).map(({ memory }) => memory);
  const of = (name: Exclude<keyof MemoryUsage, 'most' | 'limit'>) => sum(all, (memory) => memory[name]);
  const limits = containers.flatMap(({ memory }) => memory.limit ?? []);
  const isLimited = limits.length > 0 && limits.length === containers.length;
  return {
    ...{ usage: of('usage'), workingSet: of('workingSet'), rss: of('rss'), cache: of('cache') },
    ...{ mapped: of('mapped'), activeFile: of('activeFile'), inactiveFile: of('inactiveFile') },
    ...{ kernel: of('kernel'), swap: of('swap'), failures: of('failures'), oomKills: of('oomKills') },
    ...{ pageFaults: of('pageFaults'), majorPageFaults: of('majorPageFaults'), most: undefined },
    limit: isLimited ? sum(limits, (limit) => limit) : undefined,
  };
}

const sum = <T>(items: readonly T[], amount: (item: T) => number) =>
  items.reduce((total, item) => total + amount(item), 0);

function networkOf(time: string, interfaces: readonly InterfaceUsage[]): object {
  const shown = interfaces.map(({ name, receivedBytes, receiveErrors, sentBytes, sendErrors }) => ({
    ...{ name, rxBytes: receivedBytes, rxErrors: receiveErrors, txBytes: sentBytes, txErrors: sendErrors },
  }));
  const main = mainInterface(interfaces);
  return { time, ...shown.find(({ name }) => name === main?.name), interfaces: shown };
}

const fileSystem = (time: string, { size, available, inodes, inodesFree }: FileSystem) => ({
  time,
  availableBytes: available,
  capacityBytes: size,
  usedBytes: size - available,
  inodesFree,
  inodes,
  inodesUsed: inodes - inodesFree,
});

const used = (size: DirectorySize, on: FileSystem) => ({
  ...fileSystem(rfc3339(size.at), on),
  usedBytes: size.bytes,
  inodesUsed: size.inodes,
});

function ephemeralStorage({ containers, volumes }: PodReading, node: NodeUsage): object {
  const own = volumes.flatMap(({ isEphemeral, size }) => (isEphemeral ? [size] : []));
  const sizes = [...containers.flatMap(({ layer, log }) => [layer, log]), ...own].filter(
    (size) => size !== undefined,
  );
  if (sizes.length === 0) return {};
  const oldest = Math.min(...sizes.map(({ at }) => at));
  const bytes = sum(sizes, (size) => size.bytes);
  const inodes = sum(sizes, (size) => size.inodes);
  return { 'ephemeral-storage': used({ at: oldest, bytes, inodes }, node.nodefs) };
}

/** Returns the usage of this process. */
const agentOf = ({ agent }: NodeReading) => ({
  name: 'kubelet',
  startTime: rfc3339(agent.startedAt),
  cpu: cpuOf({ at: agent.at, total: agent.cpu, rate: agent.rate }),
  memory: {
    time: rfc3339(agent.at),
    usageBytes: agent.resident,
    workingSetBytes: agent.resident,
    rssBytes: agent.resident,
    pageFaults: agent.pageFaults,
    majorPageFaults: agent.majorPageFaults,
  },
});

/** Returns the usage of all pods together. */
function podsOf({ pods, node, at }: UsageSnapshot): object {
  const memories = pods.map(together);
  const of = (name: 'usage' | 'workingSet' | 'rss' | 'pageFaults' | 'majorPageFaults') =>
    sum(memories, (memory) => memory[name]);
  const rates = pods.flatMap(({ cpu }) => cpu.rate ?? []);
  return {
    name: 'pods',
    startTime: rfc3339(node.bootedAt),
    cpu: {
      time: rfc3339(at),
      ...(rates.length > 0 && { usageNanoCores: sum(rates, (rate) => rate) }),
      usageCoreNanoSeconds: sum(pods, ({ cpu }) => cpu.total),
    },
    memory: {
      time: rfc3339(at),
      availableBytes: Math.max(0, node.memory.total - of('workingSet')),
      usageBytes: of('usage'),
      workingSetBytes: of('workingSet'),
      rssBytes: of('rss'),
      pageFaults: of('pageFaults'),
      majorPageFaults: of('majorPageFaults'),
    },
  };
}
