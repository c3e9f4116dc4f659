/** The number of devices of each resource in the Node's status. */
import type { Device } from './device.ts';

export interface DeviceCount {
  readonly capacity: number;
  /** Number of healthy devices. */
  readonly allocatable: number;
}

/** Counts by resource; undefined for a resource that the Node no longer has. */
export type DeviceCounts = ReadonlyMap<string, DeviceCount | undefined>;

export const countOf = (devices: readonly Device[]): DeviceCount => ({
  capacity: devices.length,
  allocatable: devices.filter(({ healthy }) => healthy).length,
});

/**
 * Returns the count while the devices' source is unreachable: nothing new is scheduled, and the capacity is
 * kept for a while.
 */
export const countAway = (capacity: number): DeviceCount => ({ capacity, allocatable: 0 });

export const amountsIn = (counts: DeviceCounts, part: keyof DeviceCount): Record<string, string> =>
  Object.fromEntries([...counts].flatMap(([name, count]) => (count ? [[name, String(count[part])]] : [])));
