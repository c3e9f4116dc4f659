/** Configuration with which the node agent creates a container in the engine. */
import type { ContainerPort, LifecycleHandler } from '../../api/core/v1/types.gen.ts';

export interface PodReference {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

/** The hook that runs before a container's stop signal is sent. */
export interface PreStop {
  readonly handler: LifecycleHandler;
  /** Ports of the container that the handler may refer to by name. */
  readonly ports: readonly ContainerPort[];
}

export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
  /**
   * Makes the mounts below a read-only mount read-only too; absent for no. With `Enabled`, the container is
   * not created when the engine does not support it.
   */
  readonly recursiveReadOnly?: 'Enabled' | 'IfPossible';
  /** Direction in which later mounts are propagated; absent for none. */
  readonly propagation?: 'HostToContainer' | 'Bidirectional';
}

/** An image of this machine that is mounted read-only into a container. */
export interface ImageMount {
  readonly imageId: string;
  readonly target: string;
  /** Relative path without `..`; '' for the whole image. */
  readonly subPath: string;
}

/** A device of the machine that a container may use. */
export interface Device {
  readonly source: string;
  readonly target: string;
  /** Permissions: some of `r`, `w` and `m` (mknod). */
  readonly permissions: string;
}

/** Devices that the engine itself can add to a container. */
export interface EngineDevices {
  /** Device names of the Container Device Interface. */
  readonly cdi: readonly string[];
  /** UUIDs of NVIDIA cards. */
  readonly nvidia: readonly string[];
}

export interface ContainerResources {
  /** Billionths of one CPU; 0 for no limit. */
  readonly nanoCpus: number;
  readonly cpuShares: number;
  /** Bytes; 0 for no limit. */
  readonly memory: number;
  readonly oomScoreAdj: number;
}

/** The engine's default confinement profile, or none. */
export type ConfinementProfile = 'RuntimeDefault' | 'Unconfined';

/** A profile of the machine: for seccomp its rules as JSON, for AppArmor its name in the kernel. */
export interface OwnProfile {
  readonly profile: string;
}

export interface ContainerConfig {
  readonly pod: PodReference;
  readonly name: string;
  readonly sandboxId: string;
  /**
   * The engine's name of the OCI runtime; undefined for the engine's default. The container is not created
   * when the engine does not have it.
   */
  readonly runtime: string | undefined;
  /** The image's name in the pod's spec. */
  readonly image: string;
  readonly imageId: string;
  readonly specHash: string;
  readonly attempt: number;
  readonly crashes: number;
  /** The whole command line, with the image's defaults resolved. */
  readonly argv: readonly string[];
  readonly workingDir: string | undefined;
  /** Variables as `NAME=value`. */
  readonly env: readonly string[];
  readonly mounts: readonly Mount[];
  /** Absent for none. The container is not created when the engine does not support image mounts. */
  readonly imageMounts?: readonly ImageMount[];
  /** Absent for none. */
  readonly devices?: readonly Device[];
  /** Absent for none. The container is not created when the engine does not support them. */
  readonly engineDevices?: EngineDevices;
  /** Ids of the devices allocated to this container alone, by resource. */
  readonly deviceIds?: Readonly<Record<string, readonly string[]>>;
  /** Annotations for the OCI runtime. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly resources: ContainerResources;
  /** The container's allocated resources, in the form that the owner of this field writes. */
  readonly allocation?: string;
  /** `uid`, `uid:gid`, or undefined for the image's user. */
  readonly user: string | undefined;
  readonly privileged: boolean;
  readonly readOnlyRootFilesystem: boolean;
  readonly noNewPrivileges: boolean;
  readonly addCapabilities: readonly string[];
  readonly dropCapabilities: readonly string[];
  /** Supplementary groups of the container's processes, in addition to the user's. */
  readonly groups: readonly number[];
  /** Sysctls of the sandbox's namespaces, by names with dots. */
  readonly sysctls: Readonly<Record<string, string>>;
  /**
   * Undefined for the engine's default. The container is not created when the engine does not support the
   * profile.
   */
  readonly seccomp: ConfinementProfile | OwnProfile | undefined;
  readonly appArmor: ConfinementProfile | OwnProfile | undefined;
  /**
   * SELinux labels of the container's processes by their parts (user, role, type, level), for a machine that
   * has SELinux.
   */
  readonly seLinux: Readonly<Record<string, string>>;
  /**
   * The processes that the container can see: its own, all of the pod, all of the machine, or those of
   * another container, given by its id.
   */
  readonly processes: 'own' | 'pod' | 'host' | { readonly container: string };
  /** True when the container shares memory and semaphores with the machine, not only with its pod. */
  readonly hostIPC: boolean;
  readonly stdin: boolean;
  /** True when the program's input ends once the first attached client disconnects. */
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly terminationMessageFile: string;
  /** Path of that file in the container. */
  readonly terminationMessagePath: string;
  readonly gracePeriodSeconds: number;
  readonly stopTurn?: number | undefined;
  readonly preStop?: PreStop | undefined;
  /** The container's stop signal; undefined for the image's stop signal. */
  readonly stopSignal?: string | undefined;
  /** Set when the sandbox does not already have the name: the container waits until it is named. */
  readonly hostname: string | undefined;
}
