/** What this node and its pods use, as it was read: the one form from which everything that tells of usage is made. */
import type { Pod } from '../../api/core/v1/pod.ts';
import type { DirectorySize } from './directory-sizes.ts';
import type { CpuUsage, DeviceUsage, MemoryUsage } from './plan/cgroup-files.ts';
import type { CpuReading } from './plan/cpu-history.ts';
import type { MachineMemory, ProcessUsage } from './plan/machine-files.ts';
import type { InterfaceUsage } from './plan/network-files.ts';

export interface FileSystem {
  /** Bytes. */
  readonly size: number;
  readonly available: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

export interface ContainerReading {
  readonly id: string;
  /** As the engine calls it. */
  readonly fullName: string;
  readonly name: string;
  readonly image: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Of its cgroup. */
  readonly path: string;
  readonly at: number;
  readonly cpu: CpuUsage & CpuReading;
  readonly memory: MemoryUsage;
  readonly devices: readonly DeviceUsage[];
  readonly processes: number | undefined;
  /** Of what it wrote outside of volumes. */
  readonly layer: DirectorySize | undefined;
  readonly log: DirectorySize | undefined;
}

export interface VolumeReading {
  readonly name: string;
  readonly claim: string | undefined;
  /** Counted against the pod's own storage. */
  readonly isEphemeral: boolean;
  readonly size: DirectorySize;
  /** Of the file system that it is on. */
  readonly on: FileSystem;
}

export interface PodReading {
  readonly pod: Pod;
  readonly startedAt: number;
  readonly at: number;
  /** With what its ended containers have used. */
  readonly cpu: CpuReading;
  readonly containers: readonly ContainerReading[];
  /** Of the process that holds its namespaces; undefined when that does not run. */
  readonly sandbox: ContainerReading | undefined;
  /** Undefined for a pod in the node's own network. */
  readonly interfaces: readonly InterfaceUsage[] | undefined;
  readonly volumes: readonly VolumeReading[];
}

export interface NodeReading {
  readonly bootedAt: number;
  readonly at: number;
  readonly cpu: CpuReading;
  readonly memory: MachineMemory;
  readonly interfaces: readonly InterfaceUsage[];
  /** Names of block devices, by `MAJOR:MINOR`. */
  readonly devices: ReadonlyMap<string, string>;
  /** This process. */
  readonly agent: ProcessUsage & { readonly at: number; readonly rate: number | undefined };
}

export interface UsageSnapshot {
  /** When it was read, in milliseconds since the epoch. */
  readonly at: number;
  readonly node: NodeReading;
  readonly pods: readonly PodReading[];
}
