import type { Device, GivenDevices } from './plan/device.ts';

/** The provider of one resource's devices on this machine. */
export interface DeviceSource {
  readonly resource: string;
  /** The current devices. */
  readonly devices: readonly Device[];
  /** Returns the devices among `available` that the source prefers, including `must`. */
  preferred?(
    available: readonly string[],
    must: readonly string[],
    count: number,
  ): Promise<readonly string[]>;
  /** Prepares the devices for one container. Rejects when they are not available. */
  give(ids: readonly string[]): Promise<Partial<Omit<GivenDevices, 'ids'>>>;
  /** Called before each start of a container that has the devices. */
  beforeStart?(ids: readonly string[]): Promise<void>;
}
