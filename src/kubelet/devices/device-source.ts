import type { Device, GivenDevices } from './plan/device.ts';

/** Whoever has the devices of one resource on this machine. */
export interface DeviceSource {
  readonly resource: string;
  /** As they are now. */
  readonly devices: readonly Device[];
  /** Which of `available` it would rather give, `must` among them. */
  preferred?(
    available: readonly string[],
    must: readonly string[],
    count: number,
  ): Promise<readonly string[]>;
  /** For one container. Rejects when they cannot be had. */
  give(ids: readonly string[]): Promise<Partial<Omit<GivenDevices, 'ids'>>>;
  /** Before each start of a container that has them. */
  beforeStart?(ids: readonly string[]): Promise<void>;
}
