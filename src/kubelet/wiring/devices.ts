/** Wires the room `devices`: the devices of this machine that pods can request. */
import { NodeDevices } from '../devices/node-devices.ts';
import { hasRunning } from '../runtime/observed-pod.ts';
import type { RuntimeRoom } from './runtime.ts';
import type { Shared } from './shared.ts';

export type DevicesRoom = ReturnType<typeof wireDevices>;

export function wireDevices(before: Shared & RuntimeRoom) {
  const { dataDir, clock, log, cache, localPods, engine } = before;
  const devices = new NodeDevices({
    ...{ dataDir, clock, log },
    settings: before.devices,
    containers: () => cache.containers(),
    isActive: (uid) => localPods.isActive(uid) || hasRunning(cache.observe(uid)),
    hasRuntime: (name) => engine.hasRuntime(name),
  });
  return { nodeDevices: devices };
}
