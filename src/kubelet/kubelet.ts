/**
 * The node agent: makes what Docker runs on this machine match the pods that the API server assigns to this
 * node. Neither Docker nor the API server has to be reachable all the time. While the API server is away, the
 * agent keeps the pods that it knows (also across its own restart). While Docker is away, it reports the node
 * as not ready and continues as soon as Docker is back. The pods keep running when the agent stops.
 */
import { join } from 'node:path';
import PQueue from 'p-queue';
import type { Pod } from '../api/core/v1/pod.ts';
import { isTerminalPhase } from '../api/core/v1/pod-conditions.ts';
import { amounts } from '../api/core/v1/pod-requests.ts';
import { aborted } from '../base/abort.ts';
import { errorMessage } from '../base/log.ts';
import { withinNow } from '../base/tracing/current-span.ts';
import type { SysctlPattern } from './containers/plan/sysctls.ts';
import { NodeDevices } from './devices/node-devices.ts';
import { EngineConnection } from './engine-connection.ts';
import { KnownServices } from './environment/known-services.ts';
import { PodSources } from './environment/pod-sources.ts';
import { ImageGc } from './images/image-gc.ts';
import { ImagePuller } from './images/image-puller.ts';
import { ImageRecord } from './images/image-record.ts';
import { defaultImageThresholds } from './images/plan/images-to-free.ts';
import { Pulls } from './images/pulls.ts';
import type { KubeletOptions } from './kubelet-options.ts';
import { NameFiles } from './names/name-files.ts';
import { AssignedPods } from './node/assigned-pods.ts';
import { Eviction } from './node/eviction.ts';
import { MirrorPods, mirroredEvents } from './node/mirror-pods.ts';
import { NodeAgent } from './node/node-agent.ts';
import { readNodeUsage } from './node/node-usage.ts';
import { defaultEvictionHard, parseThresholds } from './node/plan/eviction-thresholds.ts';
import type { ShutdownPeriods } from './node/plan/shutdown-phases.ts';
import { podStorage } from './node/pod-storage.ts';
import { PressureMonitor } from './node/pressure-monitor.ts';
import { endAllPods } from './node/shutdown.ts';
import { StaticPods } from './node/static-pods.ts';
import { StorageLimits } from './node/storage-limits.ts';
import { type NodePart, observerOf } from './node-feature.ts';
import { NodeServer } from './node-server.ts';
import { HostPortRules } from './pods/host-port-rules.ts';
import type { PodEnd } from './pods/plan/actions.ts';
import { placeRefusal } from './pods/plan/admit-place.ts';
import { refusal, refusalOf } from './pods/plan/admit-pod.ts';
import { securityRefusal } from './pods/plan/admit-security.ts';
import { resizeProblem } from './pods/plan/allocation.ts';
import { PodCounts } from './pods/pod-counts.ts';
import { PodWorkers } from './pods/pod-workers.ts';
import { StatusWriter } from './pods/status-writer.ts';
import { ProbeCounts } from './probes/probe-counts.ts';
import { RuntimeOperations } from './runtime/measured-runtime.ts';
import { hasRunning } from './runtime/observed-pod.ts';
import { RelistCounts } from './runtime/relist-counts.ts';
import { RuntimeCache } from './runtime/runtime-cache.ts';
import { Sandboxes } from './runtime/sandboxes.ts';
import { UsageReader } from './usage/usage-reader.ts';
import { AccountTokens } from './volumes/account-tokens.ts';
import { choreSteps } from './volumes/chore-steps.ts';
import { ClaimedVolumes } from './volumes/claimed-volumes.ts';
import { LocalVolumes, localVolumesDirectory } from './volumes/local-volumes.ts';
import { PodFiles } from './volumes/pod-files.ts';
import { PodVolumes } from './volumes/pod-volumes.ts';
import { Shares } from './volumes/shares.ts';
import { VolumeChores } from './volumes/volume-chores.ts';
import { VolumeCounts } from './volumes/volume-counts.ts';

export type { KubeletOptions } from './kubelet-options.ts';

export interface Kubelet {
  /**
   * Works until the signal aborts, then resolves once everything has stopped; rejects when it cannot work
   * here.
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Ends the node's pods because the machine shuts down. Must be called while `run` works: the node reports
   * that it is shutting down, rejects new pods and ends those that it has. Resolves when they have ended or
   * the periods are over; `run` continues until its signal aborts.
   */
  shutDown(periods: ShutdownPeriods): Promise<void>;
}

/**
 * Maximum number of sandboxes and containers that start at once: enough to overlap their waits. More make
 * each start slower and none faster (measured on two cores).
 */
const startsAtOnce = 10;

const heartbeatMs = 10_000;

export function createKubelet(options: KubeletOptions): Kubelet {
  let current: KubeletRun | undefined;
  return {
    run: async (signal) => {
      current = new KubeletRun(options, signal);
      await current.run();
    },
    shutDown: async (periods) => current?.endPods(periods),
  };
}

class KubeletRun {
  readonly #options: KubeletOptions;
  readonly #signal: AbortSignal;
  readonly #cache: RuntimeCache;
  readonly #sandboxes: Sandboxes;
  readonly #statuses: StatusWriter;
  readonly #workers: PodWorkers;
  readonly #node: NodeAgent;
  readonly #assigned: AssignedPods;
  readonly #services: KnownServices;
  readonly #sources: PodSources;
  readonly #chores: VolumeChores;
  readonly #localVolumes: LocalVolumes;
  /** Parts of the features. */
  readonly #parts: readonly NodePart[];
  readonly #imageGc: ImageGc;
  readonly #devices: NodeDevices;
  readonly #engine: EngineConnection;
  readonly #usage: UsageReader;
  readonly #server: NodeServer;
  readonly #mirrors: MirrorPods;
  readonly #staticPods: StaticPods;
  readonly #starts = new PQueue({ concurrency: startsAtOnce });
  readonly #unsafeSysctls: readonly SysctlPattern[];

  constructor(given: KubeletOptions, signal: AbortSignal) {
    const operations = new RuntimeOperations(given.clock);
    const options = { ...given, runtime: operations.measure(given.runtime) };
    const { runtime, network, client, clock, log, exec, nodeIP, dataDir, facts } = options;
    const { readUsage = () => readNodeUsage({ dataDir, engineDir: this.#engine.directory }) } = options;
    this.#options = options;
    this.#unsafeSysctls = options.allowedUnsafeSysctls ?? [];
    this.#signal = signal;
    const relists = new RelistCounts(clock);
    this.#cache = new RuntimeCache(runtime, relists);
    const hostPorts = new HostPortRules({ ...options, pods: () => this.#workers.pods() });
    const { features = [] } = options;
    this.#sandboxes = new Sandboxes({
      ...{ runtime, network, log },
      poolSize: options.sandboxPool ?? 4,
      isClosed: (pod) => features.some((feature) => feature.isClosed?.(pod)),
    });
    this.#statuses = new StatusWriter(client, clock, log);
    this.#mirrors = new MirrorPods({ client, clock, log, statuses: this.#statuses });
    const events = mirroredEvents(given.events, this.#mirrors);
    const settings = {
      maxPods: options.maxPods ?? 110,
      heartbeatMs: options.heartbeatMs ?? heartbeatMs,
      evictionHard: options.evictionHard ?? parseThresholds(defaultEvictionHard),
    };
    this.#devices = new NodeDevices({
      settings: options.devices,
      containers: () => this.#cache.containers(),
      isActive: (uid) => this.#workers.isActive(uid) || hasRunning(this.#cache.observe(uid)),
      hasRuntime: (name) => this.#node.hasRuntime(name),
      ...{ dataDir, clock, log },
    });
    this.#node = new NodeAgent({
      ...options,
      ...settings,
      devices: this.#devices.manager.counts,
      localVolumes: localVolumesDirectory(dataDir),
      pressure: new PressureMonitor({
        readUsage,
        thresholds: settings.evictionHard,
        onShortages: (shortages) => eviction.consider(shortages),
        onLook: () => void limits.enforce(),
        clock,
        log,
      }),
    });
    this.#services = new KnownServices({ informer: options.services, dataDir, clock, log });
    const { allocatable } = this.#node;
    const { random } = options;
    const sources = new PodSources({ client, clock, random, log });
    const files = new PodFiles({ dataDir, exec });
    const claims = new ClaimedVolumes({ client, sources });
    const [localVolumes, shares] = [new LocalVolumes(options), new Shares(options)];
    const engineDirectory = () => this.#engine.directory;
    const run = choreSteps({ dataDir, exec, localVolumes, shares, claims, engineDirectory });
    this.#chores = new VolumeChores({ ...options, run });
    this.#localVolumes = localVolumes;
    const mounts = new VolumeCounts(clock);
    const volumes = new PodVolumes({
      counts: mounts,
      claims,
      ...{ localVolumes, shares },
      node: () => this.#node.node,
      exec,
      clock,
      sources,
      tokens: new AccountTokens({ client, clock, random, log }),
      allocatable,
      allocatableMemory: amounts(allocatable).get('memory') ?? facts.memoryBytes,
      files,
      events,
      log,
    });
    const record = new ImageRecord({ dataDir, clock, log });
    const { maxParallelImagePulls: atOnce = 3 } = options;
    const pulls = new Pulls();
    const images = new ImagePuller({
      ...{ client, runtime, events, clock, record, atOnce },
      pulls,
      onPulled: (uid, period) => this.#server.pulled(uid, period),
    });
    const { nodeName } = options;
    const part = { client, runtime, images, record, events, exec, clock, random, log, nodeName, dataDir };
    this.#parts = features.map((feature) => feature.start(part));
    this.#imageGc = new ImageGc({
      runtime,
      record,
      thresholds: options.imageGc ?? defaultImageThresholds,
      readUsage: async () => {
        const { imagefs, nodefs } = await readUsage();
        return imagefs ?? nodefs;
      },
      node: () => this.#node.node,
      ...{ events, clock, log },
    });
    const names = new NameFiles({
      clusterDNS: options.clusterDNS,
      clusterDomain: options.clusterDomain ?? 'cluster.local',
      resolvConf: options.resolvConf ?? '/etc/resolv.conf',
      hosts: '/etc/hosts',
    });
    this.#usage = new UsageReader({
      pods: () => this.#workers.pods(),
      observe: (uid) => this.#cache.observe(uid),
      volume: (pod, volume) => volumes.measured(pod, volume),
      engineDirectory: () => this.#engine.directory,
      ...{ exec, clock, log },
    });
    const counted = { counts: new PodCounts(), probeCounts: new ProbeCounts() };
    this.#workers = new PodWorkers({
      ...{ runtime, client, events, clock, log },
      random: options.random,
      probesSince: clock.now(),
      ...counted,
      ...(options.tracer && { tracer: options.tracer }),
      ...(options.loopMeter && { loopMeter: options.loopMeter }),
      nodeIP,
      allocatable,
      services: this.#services,
      nodeMemoryBytes: facts.memoryBytes,
      seccompProfiles: join(dataDir, 'seccomp'),
      unsafeSysctls: this.#unsafeSysctls,
      files,
      names,
      volumes,
      sources,
      images,
      imageProviders: this.#imageProviders(),
      devices: this.#devices.manager,
      podObserver: observerOf(this.#parts),
      onGone: () => {
        for (const { podGone } of this.#parts) podGone?.();
      },
      cache: this.#cache,
      sandboxes: this.#sandboxes,
      statuses: this.#mirrors,
      startInTurn: (work) => this.#startInTurn(work),
      onStatus: (pod, status) => {
        this.#server.observeStatus(pod, status);
        if (isTerminalPhase(status.phase)) this.#workers.wakeDeferred();
        hostPorts.sync();
      },
      requireHostPorts: (pod) => hostPorts.requireFree(pod),
      leadHostPorts: (pod) => hostPorts.leadTo(pod),
      refuse: (pod, others) => this.#refuse(pod, others),
      groups: this.#usage.groups,
      canMountImages: () => this.#engine.canMountImages,
      canMountRecursiveReadOnly: () => this.#node.canMountRecursiveReadOnly,
      onAllocated: () => this.#workers.wakeDeferred(),
      resizeProblem: (pod) => resizeProblem(pod, this.#workers.allocated(), amounts(this.#node.allocatable)),
    });
    sources.onChange = (uid) => this.#workers.wake(uid);
    this.#sources = sources;
    const active = () => this.#workers.pods().filter(({ status }) => !isTerminalPhase(status?.phase));
    this.#server = new NodeServer({
      ...options,
      ...settings,
      probeCounts: counted.probeCounts,
      pulls: () => pulls.list(),
      counted: () => [
        ...counted.counts.families(),
        ...operations.families(),
        ...relists.families(),
        ...mounts.families(active().flatMap((pod) => volumes.counted(pod))),
        ...(options.counted?.() ?? []),
      ],
      usage: this.#usage,
      nodeUsage: readUsage,
      pods: () => this.#workers.pods(),
      observe: (uid) => this.#cache.observe(uid),
      podsHere: () => this.#cache.podUids(),
      knownPodCIDR: () => this.#assigned.podCIDR,
    });
    const { groups } = this.#usage;
    const eviction = new Eviction({
      workers: this.#workers,
      cache: this.#cache,
      images: this.#imageGc,
      ...{ files, groups, exec, events, log },
    });
    const measured = { cache: this.#cache, engineDirectory: () => this.#engine.directory, files, exec, log };
    const limits = new StorageLimits({
      ...{ workers: this.#workers, files, exec, log },
      usage: (uid) => podStorage(measured, uid),
    });
    const parts = { workers: this.#workers, node: this.#node, cache: this.#cache };
    this.#staticPods = new StaticPods({
      ...options,
      ...parts,
      directory: options.podManifestPath,
      mirrors: this.#mirrors,
      onRead: () => this.#assigned.endUnknown(),
    });
    const pods = { mirrors: this.#mirrors, staticPods: this.#staticPods };
    this.#assigned = new AssignedPods({ ...options, ...parts, ...pods });
    this.#engine = new EngineConnection({
      ...options,
      ...parts,
      assigned: this.#assigned,
      staticPods: this.#staticPods,
      sandboxes: this.#sandboxes,
    });
  }

  async run(): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#signal, stop.signal]);
    await Promise.all([
      this.#assigned.load(),
      this.#services.load(),
      this.#devices.load(),
      this.#removeDrafts(),
    ]);
    await this.#staticPods.load();
    const loops = [
      this.#assigned.run(signal),
      this.#tendVolumes(signal),
      this.#node.run(signal),
      this.#engine.run(signal),
      this.#untilAborted(this.#staticPods.run(signal), signal),
      this.#imageGc.run(signal),
      ...this.#parts.map((part) => this.#untilAborted(part.run?.(signal), signal)),
      this.#server.run(signal),
      this.#devices.run(signal),
    ];
    try {
      // A loop ends by itself only when it cannot continue; then all loops end.
      await Promise.race([Promise.all(loops), aborted(signal)]);
    } finally {
      stop.abort();
      await Promise.allSettled(loops);
      await this.#shutDown();
    }
  }

  #imageProviders() {
    return this.#parts.flatMap(({ imageProviders = [] }) => imageProviders);
  }

  async #removeDrafts(): Promise<void> {
    try {
      await this.#localVolumes.removeDrafts();
    } catch (error) {
      const message = 'cannot remove folders of volumes that were begun; they are empty and harm nothing';
      this.#options.log.warn(message, { error: errorMessage(error) });
    }
  }

  /**
   * Starts the volume chores, and what features do as members, once this node belongs to the cluster: until
   * then the agent may read no volume.
   */
  async #tendVolumes(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#assigned.podCIDRKnown, aborted(signal)]);
    if (signal.aborted) return;
    const parts = this.#parts.map((part) => part.runAsMember?.(signal));
    await Promise.all([this.#chores.run(signal), ...parts]);
  }

  /**
   * Runs a part until the signal aborts, also when it ends earlier: a part that has nothing to do must not
   * end the others.
   */
  async #untilAborted(part: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
    await part;
    await aborted(signal);
  }

  async endPods(periods: ShutdownPeriods): Promise<void> {
    const { clock, log } = this.#options;
    this.#node.announceShutdown('node is shutting down');
    await endAllPods({ ...periods, workers: this.#workers, clock, log });
  }

  #refuse(pod: Pod, others: readonly Pod[]): PodEnd | undefined {
    if (this.#node.shutdownReason !== undefined) return refusal('NodeShutdown', 'the node is shutting down');
    const node = { hasAppArmor: this.#options.facts.hasAppArmor, unsafeSysctls: this.#unsafeSysctls };
    return (
      placeRefusal(pod, this.#node.node) ??
      securityRefusal(pod, node) ??
      refusalOf(pod, others, amounts({ ...this.#node.allocatable, ...this.#devices.manager.allocatable() }))
    );
  }

  async #startInTurn<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#starts.add(withinNow(work));
    } finally {
      // Sandboxes for later pods are made when no pod waits for its own start; the start that ends here is
      // still counted as pending.
      if (this.#starts.size === 0 && this.#starts.pending <= 1) this.#sandboxes.refill();
    }
  }

  async #shutDown(): Promise<void> {
    const { log, informers } = this.#options;
    await this.#workers.stop();
    await Promise.all(this.#imageProviders().map((provider) => provider.close()));
    this.#sources.close();
    await this.#mirrors.close();
    await this.#statuses.close();
    const results = await Promise.allSettled([
      this.#assigned.close(),
      this.#services.close(),
      this.#sandboxes.close(),
      this.#usage.close(),
      informers.stopped(),
    ]);
    for (const result of results) {
      if (result.status === 'rejected')
        log.warn('a part of the node agent did not stop cleanly', { error: errorMessage(result.reason) });
    }
  }
}
