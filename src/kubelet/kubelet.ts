/**
 * The node agent: brings what Docker runs on this machine to what the API server wants of it. It needs neither of
 * them to be there all the time: while the API server is away it keeps the pods it knows (also across its own
 * restart), while Docker is away it reports the node as not ready and goes on as soon as Docker is back. When it
 * stops itself the pods stay.
 */
import { join } from 'node:path';
import PQueue from 'p-queue';
import { type Node, nodeResource } from '../api/core/v1/node.ts';
import { type Pod, podResource } from '../api/core/v1/pod.ts';
import { aborted } from '../base/abort.ts';
import { type Clock, sleep, type Timer } from '../base/clock.ts';
import type { Exec } from '../base/exec.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Client } from '../client/client.ts';
import type { InformerFactory } from '../client/informer.ts';
import type { EventRecorder } from '../controller-runtime/events.ts';
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { NodeAgent, type NodeFacts } from './node-agent.ts';
import { hostPortsOf, type WantedPort, wantedPortsOf } from './plan/host-ports.ts';
import { PodFiles } from './pod-files.ts';
import type { PodNetwork } from './pod-network.ts';
import { PodWorkers } from './pod-workers.ts';
import { type ContainerRuntime, RuntimeError } from './runtime/runtime.ts';
import { RuntimeCache } from './runtime-cache.ts';
import { Sandboxes } from './sandboxes.ts';
import { type KubeletTls, serveKubelet } from './server.ts';
import { StatusWriter } from './status-writer.ts';

export interface KubeletOptions {
  readonly client: Client;
  /** This node's own: it is started and stopped with the agent. */
  readonly informers: InformerFactory;
  readonly events: EventRecorder;
  readonly runtime: ContainerRuntime;
  readonly network: PodNetwork;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
  readonly nodeIP: string;
  readonly dataDir: string;
  /** What this machine is and has. */
  readonly facts: NodeFacts;
  /** The archive the pause image is loaded from. */
  readonly readPauseArchive: () => Promise<Uint8Array>;
  /** Undefined: taken from the Node's spec.podCIDR once a controller has written it. */
  readonly podCIDR?: string;
  readonly clusterDNS?: string;
  /** Default `cluster.local`. */
  readonly clusterDomain?: string;
  /** Default 110. */
  readonly maxPods?: number;
  /** Ready sandboxes; default 4, 0 for none. */
  readonly sandboxPool?: number;
  /** Absent: no server for logs. */
  readonly server?: { readonly host: string; readonly port: number; readonly tls: KubeletTls };
  /** Rejects, in one line, when something on this machine listens on the port. Absent: not looked for. */
  readonly requireFreePort?: (port: WantedPort) => Promise<void>;
  /** Called when the API server has been told that pods can run here, the first time and perhaps again. */
  readonly onReady?: () => void;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: NonNullable<NonNullable<Node['spec']>['taints']>;
}

export interface Kubelet {
  /** Works until the signal aborts, then resolves once everything has stopped; rejects when it cannot work here. */
  run(signal: AbortSignal): Promise<void>;
}

/** Enough to overlap the waits of each; more make each slower and all of them no faster (measured on two cores). */
const startsAtOnce = 10;
const pullsAtOnce = 3;
const relistMs = 60_000;
const reconnectMs = [100, 250, 500, 1000, 2000, 5000];
const checkpointMs = 200;
/** Docker 20.10. */
const oldestApi = [1, 41] as const;

export function createKubelet(options: KubeletOptions): Kubelet {
  return { run: (signal) => new KubeletRun(options, signal).run() };
}

class KubeletRun {
  readonly #options: KubeletOptions;
  readonly #signal: AbortSignal;
  readonly #cache: RuntimeCache;
  readonly #sandboxes: Sandboxes;
  readonly #statuses: StatusWriter;
  readonly #workers: PodWorkers;
  readonly #node: NodeAgent;
  readonly #files: PodFiles;
  readonly #starts = new PQueue({ concurrency: startsAtOnce });
  readonly #pulls = new PQueue({ concurrency: pullsAtOnce });
  readonly #checkpointPath: string;
  #podCIDR: string | undefined;
  readonly #podCIDRKnown = Promise.withResolvers<string>();
  #podsSynced = false;
  #checkpointTimer: Timer | undefined;
  #checkpointing: Promise<void> = Promise.resolve();
  #hostPorts = '';

  constructor(options: KubeletOptions, signal: AbortSignal) {
    const { runtime, network, client, clock, log, events, exec, nodeIP, dataDir, facts } = options;
    this.#options = options;
    this.#signal = signal;
    this.#setPodCIDR(options.podCIDR);
    this.#checkpointPath = join(dataDir, 'checkpoint.json');
    this.#cache = new RuntimeCache(runtime);
    this.#sandboxes = new Sandboxes({ runtime, network, log, poolSize: options.sandboxPool ?? 4 });
    this.#statuses = new StatusWriter(client, clock, log);
    this.#files = new PodFiles({
      dataDir,
      exec,
      clusterDNS: options.clusterDNS,
      clusterDomain: options.clusterDomain ?? 'cluster.local',
    });
    this.#node = new NodeAgent({ ...options, maxPods: options.maxPods ?? 110 });
    this.#workers = new PodWorkers({
      runtime,
      client,
      events,
      clock,
      log,
      nodeIP,
      nodeMemoryBytes: facts.memoryBytes,
      files: this.#files,
      cache: this.#cache,
      sandboxes: this.#sandboxes,
      statuses: this.#statuses,
      startInTurn: (work) => this.#startInTurn(work),
      pullInTurn: (work) => this.#pulls.add(work),
      onStatus: () => this.#syncHostPorts(),
      requireHostPorts: (pod) => this.#requireHostPorts(pod),
    });
  }

  async run(): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#signal, stop.signal]);
    const saved = await readCheckpoint(this.#checkpointPath);
    this.#setPodCIDR(saved?.podCIDR);
    const loops = [
      this.#watchApi(signal, saved?.pods ?? []),
      this.#node.run(signal),
      this.#followRuntime(signal),
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

  /** The first one counts: pods have addresses of it. */
  #setPodCIDR(podCIDR: string | undefined): void {
    this.#podCIDR ??= podCIDR;
    if (this.#podCIDR !== undefined) this.#podCIDRKnown.resolve(this.#podCIDR);
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
    this.#checkpointTimer?.cancel();
    const results = await Promise.allSettled([
      this.#checkpoint(),
      this.#sandboxes.close(),
      informers.stopped(),
    ]);
    for (const result of results) {
      if (result.status === 'rejected')
        log.warn('stopping left something', { error: errorMessage(result.reason) });
    }
  }

  /** Desired pods: the checkpoint's until the API server has answered, from then on the API server's. */
  async #watchApi(signal: AbortSignal, saved: readonly Pod[]): Promise<void> {
    const { informers, nodeName } = this.#options;
    for (const pod of saved) this.#workers.update(pod);
    const pods = informers.informerFor(podResource, { fieldSelector: `spec.nodeName=${nodeName}` });
    const changed = (pod: Pod) => {
      this.#workers.update(pod);
      this.#podsChanged();
    };
    pods.addEventHandler({
      onAdd: changed,
      onUpdate: changed,
      onDelete: (pod) => {
        this.#workers.orphan(pod.metadata.uid);
        this.#podsChanged();
      },
    });
    const nodes = informers.informerFor(nodeResource, { fieldSelector: `metadata.name=${nodeName}` });
    const noteCIDR = (node: Node) => {
      this.#setPodCIDR(node.spec?.podCIDR);
      this.#node.observe(node);
    };
    nodes.addEventHandler({
      onAdd: noteCIDR,
      onUpdate: noteCIDR,
      onDelete: () => this.#node.observe(undefined),
    });
    try {
      await informers.start(signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.#podsSynced = true;
    const wanted = new Set(pods.lister.list().map(({ metadata }) => metadata.uid));
    for (const { metadata } of saved) if (!wanted.has(metadata.uid)) this.#workers.orphan(metadata.uid);
    this.#endUnknown();
    this.#podsChanged();
    await aborted(signal);
  }

  /** What runs here of pods that the API server does not have. Only once it is known what it has. */
  #endUnknown(): void {
    if (!this.#podsSynced) return;
    for (const uid of this.#cache.podUids()) if (!this.#workers.has(uid)) this.#workers.orphan(uid);
  }

  #podsChanged(): void {
    const { clock, log } = this.#options;
    this.#checkpointTimer ??= clock.after(checkpointMs, () => {
      this.#checkpointTimer = undefined;
      this.#checkpointing = this.#checkpointing
        .then(() => this.#checkpoint())
        .catch((error) => log.error('cannot write the checkpoint of pods', { error: errorMessage(error) }));
    });
  }

  async #checkpoint(): Promise<void> {
    const content = { podCIDR: this.#podCIDR, pods: this.#workers.pods() };
    await writeCheckpoint(this.#checkpointPath, content);
  }

  /** Connects to the engine, for as long as it takes and as often as it goes away. */
  async #followRuntime(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    let failures = 0;
    let told = '';
    const onConnected = () => {
      failures = 0;
      told = '';
    };
    while (!signal.aborted) {
      try {
        await this.#whileConnected(signal, onConnected);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof UnsupportedRuntimeError) throw error;
        const message = errorMessage(error);
        if (message !== told) log.warn('this node cannot run pods; it is tried again', { error: message });
        told = message;
        this.#workers.pause();
        this.#node.setProblem(message);
      }
      const wait = reconnectMs[Math.min(failures++, reconnectMs.length - 1)] ?? relistMs;
      await sleep(clock, wait, signal).catch(() => undefined);
    }
  }

  /** From connecting to the engine until it goes away, which throws. */
  async #whileConnected(signal: AbortSignal, onConnected: () => void): Promise<void> {
    const { runtime, network, log } = this.#options;
    const { version, apiVersion } = await runtime.version();
    requireApi(version, apiVersion);
    this.#node.setRuntimeVersion(`docker://${version}`);
    if (this.#podCIDR === undefined) this.#node.setProblem('no podCIDR has been assigned to this node yet');
    const podCIDR = await Promise.race([this.#podCIDRKnown.promise, aborted(signal)]);
    if (podCIDR === undefined) return;
    await network.setUp(podCIDR);
    await runtime.prepare(this.#options.readPauseArchive);
    const leave = new AbortController();
    const connected = AbortSignal.any([signal, leave.signal]);
    const { promise: watching, resolve: onReady } = Promise.withResolvers<void>();
    const events = this.#readEvents(connected, onReady);
    try {
      await Promise.race([watching, events]);
      await this.#takeOver();
      log.info('connected to the container engine', { version });
      onConnected();
      this.#node.setProblem(undefined);
      await Promise.race([events, this.#relistNowAndThen(connected)]);
      if (!signal.aborted) throw new RuntimeError('Unavailable', 'Docker closed the connection');
    } finally {
      leave.abort();
      await events.catch(() => undefined);
    }
  }

  async #readEvents(signal: AbortSignal, onReady: () => void): Promise<void> {
    const { runtime, log } = this.#options;
    for await (const { id } of runtime.events(signal, onReady)) {
      this.#objectChanged(id).catch((error) =>
        log.warn('cannot look at a container; the next relist does', { error: errorMessage(error) }),
      );
    }
  }

  async #objectChanged(id: string): Promise<void> {
    const uid = await this.#cache.refresh(id);
    if (uid !== undefined) this.#podChanged(uid);
    else if (this.#sandboxes.isReady(id)) await this.#dropDeadReady();
  }

  #podChanged(uid: string): void {
    if (this.#workers.has(uid)) this.#workers.wake(uid);
    else this.#endUnknown();
  }

  /** Nothing is decided about any pod before it is known what is here. */
  async #takeOver(): Promise<void> {
    await this.#cache.relist();
    await this.#sandboxes.adopt(this.#cache.sandboxes());
    await this.#cache.relist();
    this.#workers.resume();
    this.#endUnknown();
    this.#sandboxes.refill();
  }

  async #dropDeadReady(): Promise<void> {
    const running = new Set(
      this.#cache
        .sandboxes()
        .filter(({ state }) => state === 'running')
        .map(({ id }) => id),
    );
    await this.#sandboxes.dropDead(running);
    this.#sandboxes.refill();
  }

  async #relistNowAndThen(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(this.#options.clock, relistMs, signal);
      await this.#mendNetwork();
      for (const uid of await this.#cache.relist()) this.#podChanged(uid);
      await this.#dropDeadReady();
    }
  }

  /** Whoever reloads a firewall takes our rules with it. */
  async #mendNetwork(): Promise<void> {
    const { network, log } = this.#options;
    try {
      if (this.#podCIDR !== undefined) await network.setUp(this.#podCIDR);
    } catch (error) {
      log.warn('cannot look after the pod network; the next relist does', { error: errorMessage(error) });
    }
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { server, runtime, clock, log } = this.#options;
    if (!server) return aborted(signal);
    const pods = () => this.#workers.pods();
    const observe = (uid: string) => this.#cache.observe(uid);
    await serveKubelet({ ...server, runtime, clock, log, pods, observe }, signal);
  }

  /** A rule for a port would take it away from whatever of this machine listens there, without a word. */
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

/** The container engine is there and will not do; waiting does not help. */
export class UnsupportedRuntimeError extends Error {
  override readonly name = 'UnsupportedRuntimeError';
}

/** Throws UnsupportedRuntimeError for an engine older than this agent can use. */
export function requireApi(version: string, apiVersion: string): void {
  const [major = 0, minor = 0] = apiVersion.split('.').map(Number);
  const [oldestMajor, oldestMinor] = oldestApi;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new UnsupportedRuntimeError(
    `Docker ${version} is too old: its API is ${apiVersion}, minik8s needs ${oldestApi.join('.')} (Docker 20.10) or newer`,
  );
}
