/** Devices of this machine that pods request, in whole numbers, by the name of a resource. */

export interface Device {
  /** Identifies the device within its resource. */
  readonly id: string;
  readonly healthy: boolean;
}

/** A device file of the machine, for one container. */
export interface DeviceNode {
  readonly source: string;
  readonly target: string;
  /** Permissions: some of `r`, `w` and `m` (mknod). */
  readonly permissions: string;
}

/** Everything that a container needs to use its devices. */
export interface GivenDevices {
  /** Ids of the devices, by resource. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly {
    readonly source: string;
    readonly target: string;
    readonly readOnly: boolean;
  }[];
  readonly nodes: readonly DeviceNode[];
  /** Annotations for the OCI runtime. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Device names of the Container Device Interface, such as `vendor.com/gpu=0`. */
  readonly cdi: readonly string[];
  /** UUIDs of NVIDIA cards that the engine itself adds to the container. */
  readonly nvidia: readonly string[];
}

export const nothingGiven: GivenDevices = {
  ids: {},
  env: {},
  mounts: [],
  nodes: [],
  annotations: {},
  cdi: [],
  nvidia: [],
};

/** Merges the settings of two resources; of two values with the same name, the later one is used. */
export const bothGiven = (one: GivenDevices, other: GivenDevices): GivenDevices => ({
  ids: { ...one.ids, ...other.ids },
  env: { ...one.env, ...other.env },
  mounts: [...one.mounts, ...other.mounts],
  nodes: [...one.nodes, ...other.nodes],
  annotations: { ...one.annotations, ...other.annotations },
  cdi: [...one.cdi, ...other.cdi],
  nvidia: [...one.nvidia, ...other.nvidia],
});

/** The reason why a container cannot have its devices, in one line. */
export class DeviceError extends Error {
  override readonly name = 'DeviceError';
}
