/** Wires the room `node`: the Node, the pods that belong here, and the connection to the engine. */
import { AssignedPods } from '../node/assigned-pods.ts';
import { EngineConnection } from '../node/engine-connection.ts';
import { Eviction } from '../node/eviction.ts';
import { NodeReporter } from '../node/node-reporter.ts';
import { podStorage } from '../node/pod-storage.ts';
import { PressureMonitor } from '../node/pressure-monitor.ts';
import { StaticPods } from '../node/static-pods.ts';
import { StorageLimits } from '../node/storage-limits.ts';
import { UnknownPods } from '../node/unknown-pods.ts';
import { localVolumesDirectory } from '../volumes/local-volumes.ts';
import type { DevicesRoom } from './devices.ts';
import type { ImagesRoom } from './images.ts';
import type { PodsRoom } from './pods.ts';
import type { RuntimeRoom } from './runtime.ts';
import type { Shared } from './shared.ts';
import type { UsageRoom } from './usage.ts';
import type { VolumesRoom } from './volumes.ts';

type Before = Shared & RuntimeRoom & ImagesRoom & VolumesRoom & DevicesRoom & UsageRoom & PodsRoom;

export type NodeRoom = ReturnType<typeof wireNode>;

export function wireNode(before: Before) {
  const { cache, workers, mirrors, dataDir, nodeDevices } = before;
  const node = new NodeReporter({
    ...before,
    devices: nodeDevices.manager.counts,
    localVolumes: localVolumesDirectory(dataDir),
    pressure: pressureMonitor(before),
  });
  const directory = before.podManifestPath;
  const unknownPods = new UnknownPods({
    cache,
    workers,
    sources: directory === undefined ? ['api'] : ['api', 'files'],
  });
  const onRead = () => {
    unknownPods.hasRead('files');
    unknownPods.end();
  };
  const staticPods = new StaticPods({ ...before, directory, mirrors, onRead });
  const assigned = new AssignedPods({ ...before, node, unknownPods });
  const engineConnection = new EngineConnection({ ...before, node, assigned, staticPods, unknownPods });
  return { node, staticPods, assigned, engineConnection };
}

/** Returns the monitor, which triggers evictions and the limits of disk space. */
function pressureMonitor(before: Before): PressureMonitor {
  const { workers, cache, imageCollector, files, usage, exec, events, clock, log, engine } = before;
  const { groups } = usage;
  const eviction = new Eviction({ workers, cache, images: imageCollector, files, groups, exec, events, log });
  const measured = { cache, engineDirectory: () => engine.directory, files, exec, log };
  const limits = new StorageLimits({
    ...{ workers, files, exec, log },
    usage: (uid) => podStorage(measured, uid),
  });
  return new PressureMonitor({
    ...{ clock, log },
    readUsage: before.readUsage,
    thresholds: before.evictionHard,
    onShortages: (shortages) => eviction.consider(shortages),
    onLook: () => void limits.enforce(),
  });
}
