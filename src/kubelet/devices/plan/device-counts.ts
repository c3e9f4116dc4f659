/** How many devices of each resource the Node says it has. */
import type { Device } from './device.ts';

export interface DeviceCount {
  readonly capacity: number;
  /** Of the healthy ones. */
  readonly allocatable: number;
}

/** By resource; undefined for one that the Node has no longer. */
export type DeviceCounts = ReadonlyMap<string, DeviceCount | undefined>;

export const countOf = (devices: readonly Device[]): DeviceCount => ({
  capacity: devices.length,
  allocatable: devices.filter(({ healthy }) => healthy).length,
});

/** Whoever offered them is away: nothing new is placed, and what is there is not forgotten at once. */
export const countAway = (capacity: number): DeviceCount => ({ capacity, allocatable: 0 });

export const amountsIn = (counts: DeviceCounts, part: keyof DeviceCount): Record<string, string> =>
  Object.fromEntries([...counts].flatMap(([name, count]) => (count ? [[name, String(count[part])]] : [])));
