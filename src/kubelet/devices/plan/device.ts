/** Devices of this machine that pods ask for by the name of a resource, whole ones. */

export interface Device {
  /** Names it among those of its resource. */
  readonly id: string;
  readonly healthy: boolean;
}

/** A file of the machine that is a device, for one container. */
export interface DeviceNode {
  readonly source: string;
  readonly target: string;
  /** Some of `r`, `w` and `m` (make the node). */
  readonly permissions: string;
}

/** What a container is given so that it can use its devices. */
export interface GivenDevices {
  /** Their ids, by resource. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly {
    readonly source: string;
    readonly target: string;
    readonly readOnly: boolean;
  }[];
  readonly nodes: readonly DeviceNode[];
  /** For the runtime. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Names of the Container Device Interface, such as `vendor.com/gpu=0`. */
  readonly cdi: readonly string[];
  /** Of NVIDIA's cards, by the engine's own way. */
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

/** Of two resources one says more than the other; where both say the same thing, the later one counts. */
export const bothGiven = (one: GivenDevices, other: GivenDevices): GivenDevices => ({
  ids: { ...one.ids, ...other.ids },
  env: { ...one.env, ...other.env },
  mounts: [...one.mounts, ...other.mounts],
  nodes: [...one.nodes, ...other.nodes],
  annotations: { ...one.annotations, ...other.annotations },
  cdi: [...one.cdi, ...other.cdi],
  nvidia: [...one.nvidia, ...other.nvidia],
});

/** Why a container cannot have its devices, in one line. */
export class DeviceError extends Error {
  override readonly name = 'DeviceError';
}
