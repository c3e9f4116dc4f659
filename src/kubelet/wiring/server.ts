/** Wires the room `server`: the agent's server and its metrics. */
import { isTerminalPhase } from '../../api/core/v1/pod/conditions.ts';
import { NodeServer } from '../server/node-server.ts';
import type { EnvironmentRoom } from './environment.ts';
import type { FeaturesRoom } from './features.ts';
import type { ImagesRoom } from './images.ts';
import type { NodeRoom } from './node.ts';
import type { PodsRoom } from './pods.ts';
import type { RuntimeRoom } from './runtime.ts';
import type { Shared } from './shared.ts';
import type { UsageRoom } from './usage.ts';
import type { VolumesRoom } from './volumes.ts';

type Before = Shared &
  RuntimeRoom &
  ImagesRoom &
  FeaturesRoom &
  VolumesRoom &
  UsageRoom &
  PodsRoom &
  NodeRoom &
  EnvironmentRoom;

export function wireServer(before: Before): NodeServer {
  const { localPods, cache, pulls, assigned, operations, relists, podCounts, volumeCounts, volumes } = before;
  const { certificates } = before;
  const active = () => localPods.list().filter(({ status }) => !isTerminalPhase(status?.phase));
  return new NodeServer({
    ...before,
    pulls: () => pulls.list(),
    counted: () => [
      ...podCounts.families(),
      ...operations.families(),
      ...relists.families(),
      ...volumeCounts.families(active().flatMap((pod) => volumes.counted(pod))),
      ...certificates.families(),
      ...(before.counted?.() ?? []),
    ],
    nodeUsage: before.readUsage,
    pods: () => localPods.list(),
    observe: (uid) => cache.observe(uid),
    podsHere: () => cache.podUids(),
    knownPodCIDR: () => assigned.podCIDR,
  });
}
