/**
 * Usage of this node and its pods as it was read: the one form from which all reports and metrics of usage
 * are made.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
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
  /** Name of the container in the engine. */
  readonly fullName: string;
  readonly name: string;
  readonly image: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Path of its cgroup. */
  readonly path: string;
  readonly at: number;
  readonly cpu: CpuUsage & CpuReading;
  readonly memory: MemoryUsage;
  readonly devices: readonly DeviceUsage[];
  readonly processes: number | undefined;
  /** Size of the container's files outside of volumes. */
  readonly layer: DirectorySize | undefined;
  readonly log: DirectorySize | undefined;
}

export interface VolumeReading {
  readonly name: string;
  readonly claim: string | undefined;
  /** True when the volume counts as ephemeral storage of the pod. */
  readonly isEphemeral: boolean;
  readonly size: DirectorySize;
  /** The file system of the volume. */
  readonly on: FileSystem;
}

export interface PodReading {
  readonly pod: Pod;
  readonly startedAt: number;
  readonly at: number;
  /** Usage including the pod's ended containers. */
  readonly cpu: CpuReading;
  readonly containers: readonly ContainerReading[];
  /** Usage of the process that holds its namespaces; undefined when that does not run. */
  readonly sandbox: ContainerReading | undefined;
  /** Undefined for a pod in the host's network. */
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
  /** Usage of this process. */
  readonly agent: ProcessUsage & { readonly at: number; readonly rate: number | undefined };
}

export interface UsageSnapshot {
  /** Time of the reading, in milliseconds since the epoch. */
  readonly at: number;
  readonly node: NodeReading;
  readonly pods: readonly PodReading[];
}
