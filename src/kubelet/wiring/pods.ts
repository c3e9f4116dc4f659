/** Wires the rooms `containers`, `probes` and `pods`: the workers of pods and their dependencies. */
import { join } from 'node:path';
import { isTerminalPhase } from '../../api/core/v1/pod/conditions.ts';
import type { ExecuteContext } from '../pods/execute.ts';
import { HostPortRules } from '../pods/host-port-rules.ts';
import { PodAdmission } from '../pods/pod-admission.ts';
import { PodCounts } from '../pods/pod-counts.ts';
import { PodWorkers } from '../pods/pod-workers.ts';
import { StartTurns } from '../pods/start-turns.ts';
import { ProbeCounts } from '../probes/probe-counts.ts';
import type { DevicesRoom } from './devices.ts';
import type { EnvironmentRoom, NamesRoom } from './environment.ts';
import type { FeaturesRoom } from './features.ts';
import type { ImagesRoom } from './images.ts';
import type { RuntimeRoom } from './runtime.ts';
import type { Shared } from './shared.ts';
import type { UsageRoom } from './usage.ts';
import type { VolumesRoom } from './volumes.ts';

type Before = Shared &
  RuntimeRoom &
  EnvironmentRoom &
  NamesRoom &
  ImagesRoom &
  FeaturesRoom &
  VolumesRoom &
  DevicesRoom &
  UsageRoom;

export type PodsRoom = ReturnType<typeof wirePods>;

/** Subscribes the workers to the sources of their pods. */
export function wirePods(before: Before) {
  const { localPods, sources, certificates } = before;
  const counts = { podCounts: new PodCounts(), probeCounts: new ProbeCounts() };
  const hostPorts = new HostPortRules({ ...before, pods: () => localPods.list() });
  const workers = new PodWorkers({
    ...given(before),
    counts: counts.podCounts,
    probeCounts: counts.probeCounts,
    ...reactions(before, hostPorts),
    ...decisions(before),
  });
  sources.onChange = (uid) => workers.wake(uid);
  certificates.onChange = (uid) => workers.wake(uid);
  return { ...counts, workers };
}

/** Returns the options of the workers that earlier rooms have made. */
function given(before: Before) {
  const {
    runtime,
    client,
    events,
    clock,
    random,
    log,
    nodeIP,
    nodeIPv6,
    network,
    allocatable,
    facts,
    dataDir,
  } = before;
  const { files, names, volumes, sources, images, cache, sandboxes, mirrors, localPods } = before;
  const { knownServices, imageProviders, podObserver, nodeDevices, usage, engine, tracer, loopMeter } =
    before;
  const turns = new StartTurns(sandboxes);
  return {
    ...{ runtime, client, events, clock, random, log, nodeIP, allocatable },
    second: { ofNode: nodeIPv6, ofPod: (ip: string) => network.addressesOf(ip)[1] },
    ...{ files, names, volumes, sources, images, cache, sandboxes, localPods },
    ...(tracer && { tracer }),
    ...(loopMeter && { loopMeter }),
    probesSince: clock.now(),
    services: knownServices,
    nodeMemoryBytes: facts.memoryBytes,
    seccompProfiles: join(dataDir, 'seccomp'),
    unsafeSysctls: before.allowedUnsafeSysctls ?? [],
    ...{ imageProviders, podObserver },
    devices: nodeDevices.manager,
    statuses: mirrors,
    groups: usage.groups,
    startInTurn: <T>(work: () => Promise<T>) => turns.run(work),
    canMountImages: () => engine.canMountImages,
    canMountRecursiveReadOnly: () => engine.canMountRecursiveReadOnly,
  };
}

/** Returns the callbacks by which other parts react to a worker's changes. */
function reactions({ localPods, startRecords, featureParts, policies }: Before, hostPorts: HostPortRules) {
  const wakeDeferred = () => localPods.wakeDeferred();
  return {
    onStatus: (...[pod, status]: Parameters<Shared['startRecords']['observe']>) => {
      startRecords.observe(pod, status);
      if (isTerminalPhase(status.phase)) wakeDeferred();
      hostPorts.sync();
    },
    onAllocated: wakeDeferred,
    onGone: () => {
      for (const part of featureParts) part.podGone?.();
    },
    requireHostPorts: (...[pod]: Parameters<HostPortRules['requireFree']>) => hostPorts.requireFree(pod),
    protect: async (...[pod, ip]: Parameters<ExecuteContext['protect']>) => policies?.protect(pod, ip),
    leadHostPorts: (...[pod]: Parameters<HostPortRules['leadTo']>) => hostPorts.leadTo(pod),
  };
}

/** Returns the node's decisions about new pods and about resizes. */
function decisions({ nodeState, allocatable, nodeDevices, localPods, facts, ...before }: Before) {
  const admission = new PodAdmission({
    ...{ nodeState, allocatable, localPods },
    devices: nodeDevices.manager,
    security: { hasAppArmor: facts.hasAppArmor, unsafeSysctls: before.allowedUnsafeSysctls ?? [] },
  });
  return {
    refuse: (...[pod, others]: Parameters<PodAdmission['refuse']>) => admission.refuse(pod, others),
    resizeProblem: (...[pod]: Parameters<PodAdmission['resizeProblem']>) => admission.resizeProblem(pod),
  };
}
