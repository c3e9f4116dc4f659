/** Wires the room `runtime`: the observed state of the engine, and the sandboxes. */
import { RelistCounts } from '../runtime/relist-counts.ts';
import { RuntimeCache } from '../runtime/runtime-cache.ts';
import { Sandboxes } from '../runtime/sandboxes.ts';
import type { Shared } from './shared.ts';

export type RuntimeRoom = ReturnType<typeof wireRuntime>;

export function wireRuntime({ runtime, network, clock, log, sandboxPool = 4, features = [] }: Shared) {
  const relists = new RelistCounts(clock);
  const cache = new RuntimeCache(runtime, relists);
  const sandboxes = new Sandboxes({
    ...{ runtime, network, log },
    poolSize: sandboxPool,
    isClosed: (pod) => features.some((feature) => feature.isClosed?.(pod)),
  });
  return { relists, cache, sandboxes };
}
