/**
 * The node agent: brings what Docker runs on this machine to what the API server wants of it. It needs neither of
 * them to be there all the time: while the API server is away it keeps the pods it knows (also across its own
 * restart), while Docker is away it reports the node as not ready and goes on as soon as Docker is back. When it
 * stops itself the pods stay.
 */
import PQueue from 'p-queue';
import type { Node } from '../api/core/v1/node.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import { amounts } from '../api/core/v1/pod-requests.ts';
import type { Service } from '../api/core/v1/service.ts';
import { aborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Current } from '../base/current.ts';
import type { Exec } from '../base/exec.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Client } from '../client/client.ts';
import type { Informer, InformerFactory } from '../client/informer.ts';
import type { EventRecorder } from '../controller-runtime/events.ts';
import { AssignedPods } from './assigned-pods.ts';
import { EngineConnection } from './engine-connection.ts';
import { Eviction } from './eviction.ts';
import { KnownServices } from './known-services.ts';
import { NodeAgent, type NodeFacts } from './node-agent.ts';
import { readNodeUsage } from './node-usage.ts';
import type { PodEnd } from './plan/actions.ts';
import { refusal, refusalOf } from './plan/admit-pod.ts';
import {
  defaultEvictionHard,
  type NodeUsage,
  parseThresholds,
  type Threshold,
} from './plan/eviction-thresholds.ts';
import { hostPortsOf, type WantedPort, wantedPortsOf } from './plan/host-ports.ts';
import type { ReportedConditions } from './plan/node-conditions.ts';
import type { ReservedResources } from './plan/node-status.ts';
import type { ShutdownPeriods } from './plan/shutdown-phases.ts';
import { forbiddenSysctl } from './plan/sysctls.ts';
import { PodFiles } from './pod-files.ts';
import type { PodNetwork } from './pod-network.ts';
import { PodWorkers } from './pod-workers.ts';
import { PressureMonitor } from './pressure-monitor.ts';
import { ProjectedVolumes } from './projected-volumes.ts';
import type { ContainerRuntime } from './runtime/runtime.ts';
import { RuntimeCache } from './runtime-cache.ts';
import { Sandboxes } from './sandboxes.ts';
import { type KubeletTls, serveKubelet } from './server.ts';
import { endAllPods } from './shutdown.ts';
import { StatusWriter } from './status-writer.ts';
import { VolumeLimits } from './volume-limits.ts';

export interface KubeletOptions {
  readonly client: Client;
  /** This node's own: it is started and stopped with the agent. */
  readonly informers: InformerFactory;
  /** Of all namespaces, started by the caller: the agent may read them once its Node is there. */
  readonly services: Informer<Service>;
  readonly events: EventRecorder;
  readonly runtime: ContainerRuntime;
  readonly network: PodNetwork;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly nodeName: string;
  readonly nodeIP: string;
  readonly dataDir: string;
  /** What this machine is and has. */
  readonly facts: NodeFacts;
  /** The archive the pause image is loaded from. */
  readonly readPauseArchive: () => Promise<Uint8Array>;
  /** What a Node that has no range yet is registered with; undefined: a controller gives it one. */
  readonly podCIDR?: string;
  readonly clusterDNS?: string;
  /** Default `cluster.local`. */
  readonly clusterDomain?: string;
  /** The file that says how this machine resolves names; default /etc/resolv.conf. */
  readonly resolvConf?: string;
  /** Default 110. */
  readonly maxPods?: number;
  /** Kept for the machine itself: the rest is allocatable. */
  readonly systemReserved?: ReservedResources;
  /** How often the node is looked at and its lease renewed; default 10 seconds. */
  readonly heartbeatMs?: number;
  /** When the node is short of something and pods are evicted; default `defaultEvictionHard`. */
  readonly evictionHard?: readonly Threshold[];
  /** Default: what the kernel says. */
  readonly readUsage?: () => Promise<NodeUsage>;
  /** Ready sandboxes; default 4, 0 for none. */
  readonly sandboxPool?: number;
  /** Absent: no server for logs. */
  readonly server?: { readonly host: string; readonly port: number; readonly tls: KubeletTls };
  /** Rejects, in one line, when something on this machine listens on the port. Absent: not looked for. */
  readonly requireFreePort?: (port: WantedPort) => Promise<void>;
  /** What other parts of this node say of it: conditions of its Node. */
  readonly conditions?: Current<ReportedConditions>;
  /** Called when this node's Node is there: until then it may read little else. */
  readonly onRegistered?: () => void;
  /** Called when the Node's status says that pods can run here; perhaps more than once. */
  readonly onReady?: () => void;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: NonNullable<NonNullable<Node['spec']>['taints']>;
  /** Called when this node's Node was deleted; absent: it registers again. */
  readonly onRemoved?: () => void;
}

export interface Kubelet {
  /** Works until the signal aborts, then resolves once everything has stopped; rejects when it cannot work here. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * While it runs: the node says that it is shutting down, takes no pod any more and ends those it has. Resolves when
   * they have ended or the time is over; `run` goes on until its signal aborts.
   */
  shutDown(periods: ShutdownPeriods): Promise<void>;
}

/** Enough to overlap the waits of each; more make each slower and all of them no faster (measured on two cores). */
const startsAtOnce = 10;
const pullsAtOnce = 3;

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
  readonly #engine: EngineConnection;
  readonly #starts = new PQueue({ concurrency: startsAtOnce });
  readonly #pulls = new PQueue({ concurrency: pullsAtOnce });
  #hostPorts = '';

  constructor(options: KubeletOptions, signal: AbortSignal) {
    const { runtime, network, client, clock, log, events, exec, nodeIP, dataDir, facts } = options;
    const { readUsage = () => readNodeUsage({ dataDir, engineDir: this.#engine.directory }) } = options;
    this.#options = options;
    this.#signal = signal;
    this.#cache = new RuntimeCache(runtime);
    this.#sandboxes = new Sandboxes({ runtime, network, log, poolSize: options.sandboxPool ?? 4 });
    this.#statuses = new StatusWriter(client, clock, log);
    this.#node = new NodeAgent({
      ...options,
      maxPods: options.maxPods ?? 110,
      heartbeatMs: options.heartbeatMs ?? heartbeatMs,
      pressure: new PressureMonitor({
        readUsage,
        thresholds: options.evictionHard ?? parseThresholds(defaultEvictionHard),
        onShortages: (shortages) => eviction.consider(shortages),
        onLook: () => {
          void limits.enforce();
          void projected.refresh(this.#workers.pods(), (uid, volume) => files.volume(uid, volume));
        },
        clock,
        log,
      }),
    });
    this.#services = new KnownServices({ informer: options.services, dataDir, clock, log });
    const { allocatable } = this.#node;
    const projected = new ProjectedVolumes({ client, clock, random: options.random, log, allocatable });
    const files = new PodFiles({
      projected,
      dataDir,
      exec,
      clusterDNS: options.clusterDNS,
      clusterDomain: options.clusterDomain ?? 'cluster.local',
      resolvConf: options.resolvConf ?? '/etc/resolv.conf',
      hosts: '/etc/hosts',
      allocatableMemory: amounts(allocatable).get('memory') ?? facts.memoryBytes,
      log,
    });
    this.#workers = new PodWorkers({
      runtime,
      client,
      events,
      clock,
      log,
      nodeIP,
      allocatable,
      services: this.#services,
      nodeMemoryBytes: facts.memoryBytes,
      files,
      cache: this.#cache,
      sandboxes: this.#sandboxes,
      statuses: this.#statuses,
      startInTurn: (work) => this.#startInTurn(work),
      pullInTurn: (work) => this.#pulls.add(work),
      onStatus: () => this.#syncHostPorts(),
      requireHostPorts: (pod) => this.#requireHostPorts(pod),
      refuse: (pod, others) => this.#refuse(pod, others),
    });
    const eviction = new Eviction({ workers: this.#workers, cache: this.#cache, files, exec, events, log });
    const limits = new VolumeLimits({ workers: this.#workers, files, exec, log });
    const parts = { workers: this.#workers, node: this.#node, cache: this.#cache };
    this.#assigned = new AssignedPods({ ...options, ...parts });
    this.#engine = new EngineConnection({
      ...options,
      ...parts,
      assigned: this.#assigned,
      sandboxes: this.#sandboxes,
    });
  }

  async run(): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#signal, stop.signal]);
    await Promise.all([this.#assigned.load(), this.#services.load()]);
    const loops = [
      this.#assigned.run(signal),
      this.#node.run(signal),
      this.#engine.run(signal),
      this.#serve(signal),
    ];
    try {
      // A loop ends by itself only when it cannot go on; then all end.
      await Promise.race([Promise.all(loops), aborted(signal)]);
    } finally {
      stop.abort();
      await Promise.allSettled(loops);
      await this.#shutDown();
    }
  }

  async endPods(periods: ShutdownPeriods): Promise<void> {
    const { clock, log } = this.#options;
    this.#node.announceShutdown('node is shutting down');
    await endAllPods({ ...periods, workers: this.#workers, clock, log });
  }

  #refuse(pod: Pod, others: readonly Pod[]): PodEnd | undefined {
    if (this.#node.shutdownReason !== undefined) return refusal('NodeShutdown', 'the node is shutting down');
    const sysctl = forbiddenSysctl(pod);
    if (sysctl !== undefined) return refusal('SysctlForbidden', sysctl);
    return refusalOf(pod, others, amounts(this.#node.allocatable));
  }

  async #startInTurn<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#starts.add(work);
    } finally {
      // Sandboxes for later are made when no pod waits for its own start: this one still counts.
      if (this.#starts.size === 0 && this.#starts.pending <= 1) this.#sandboxes.refill();
    }
  }

  async #shutDown(): Promise<void> {
    const { log, informers } = this.#options;
    await this.#workers.stop();
    await this.#statuses.close();
    const results = await Promise.allSettled([
      this.#assigned.close(),
      this.#services.close(),
      this.#sandboxes.close(),
      informers.stopped(),
    ]);
    for (const result of results) {
      if (result.status === 'rejected')
        log.warn('a part of the node agent did not stop cleanly', { error: errorMessage(result.reason) });
    }
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { server, runtime, clock, log, nodeIP } = this.#options;
    if (!server) return aborted(signal);
    const pods = () => this.#workers.pods();
    const observe = (uid: string) => this.#cache.observe(uid);
    await serveKubelet({ ...server, runtime, clock, log, pods, observe, nodeIP }, signal);
  }

  /** A rule for a port would silently take it away from a program of this machine that listens there. */
  async #requireHostPorts(pod: Pod): Promise<void> {
    for (const port of wantedPortsOf(pod)) await this.#options.requireFreePort?.(port);
  }

  /** Ports of this machine follow the addresses of the pods that ask for them. */
  #syncHostPorts(): void {
    const { network, log } = this.#options;
    const ports = this.#workers.pods().flatMap(hostPortsOf);
    const text = JSON.stringify(ports);
    if (text === this.#hostPorts) return;
    this.#hostPorts = text;
    network.setHostPorts(ports).catch((error) => {
      this.#hostPorts = '';
      log.error('cannot set host ports', { error: errorMessage(error) });
    });
  }
}
