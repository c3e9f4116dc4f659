/** Wires the room `usage`: the only reader of the usage of pods and the node. */
import { UsageReader } from '../usage/usage-reader.ts';
import type { RuntimeRoom } from './runtime.ts';
import type { Shared } from './shared.ts';
import type { VolumesRoom } from './volumes.ts';

export type UsageRoom = ReturnType<typeof wireUsage>;

export function wireUsage(before: Shared & RuntimeRoom & VolumesRoom) {
  const { exec, clock, log, localPods, cache, volumes, engine } = before;
  const usage = new UsageReader({
    ...{ exec, clock, log },
    pods: () => localPods.list(),
    observe: (uid) => cache.observe(uid),
    volume: (pod, volume) => volumes.measured(pod, volume),
    engineDirectory: () => engine.directory,
  });
  return { usage };
}
