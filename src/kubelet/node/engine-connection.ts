/**
 * Keeps the agent connected to the container engine, and wakes the pods' workers when something changes
 * there.
 */
import { aborted } from '../../base/abort.ts';
import { allEnded } from '../../base/all-ended.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { keepDoing, retry } from '../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { isAtLeast, oldestApi } from '../../docker/api-version.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import type { PodWorkers } from '../pods/pod-workers.ts';
import type { EngineState } from '../runtime/engine-state.ts';
import type { PodNetwork } from '../runtime/pod-network.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import type { Sandboxes } from '../runtime/sandboxes.ts';
import type { AssignedPods } from './assigned-pods.ts';
import type { NodeReporter } from './node-reporter.ts';
import type { StaticPods } from './static-pods.ts';
import type { UnknownPods } from './unknown-pods.ts';

export interface EngineConnectionOptions {
  readonly runtime: ContainerRuntime;
  readonly network: PodNetwork;
  readonly assigned: AssignedPods;
  readonly staticPods: StaticPods;
  readonly workers: PodWorkers;
  readonly node: NodeReporter;
  readonly cache: RuntimeCache;
  readonly sandboxes: Sandboxes;
  readonly unknownPods: UnknownPods;
  /** Receives the facts that the engine reports about itself. */
  readonly engine: EngineState;
  readonly clock: Clock;
  readonly log: Logger;
  /** Reads the archive from which the pause image is loaded. */
  readonly readPauseArchive: () => Promise<Uint8Array>;
}

const relistMs = 60_000;
const reconnect = { initialMs: 100, maxMs: 5_000 };

export class EngineConnection {
  readonly #options: EngineConnectionOptions;

  constructor(options: EngineConnectionOptions) {
    this.#options = options;
  }

  /**
   * Connects to the engine and reconnects whenever the connection is lost, until the signal aborts. Rejects
   * with UnsupportedRuntimeError.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, workers, node } = this.#options;
    const backoff = new Backoff(reconnect);
    let lastProblem = '';
    const onConnected = () => {
      backoff.reset();
      lastProblem = '';
    };
    const onError = (error: unknown) => {
      if (error instanceof UnsupportedRuntimeError) throw error;
      const message = errorMessage(error);
      if (message !== lastProblem) log.warn('this node cannot run pods; trying again', { error: message });
      lastProblem = message;
      workers.pause();
      node.setProblem(message);
    };
    const restMs = () => backoff.next();
    await keepDoing({ clock, signal, restMs, onError }, () => this.#whileConnected(signal, onConnected));
  }

  /** Connects to the engine and follows its events until the connection is lost, which throws. */
  async #whileConnected(signal: AbortSignal, onConnected: () => void): Promise<void> {
    const { runtime, node, assigned, engine, log } = this.#options;
    const reported = await runtime.version();
    const { version, apiVersion } = reported;
    requireApi(version, apiVersion);
    engine.report(reported);
    if (assigned.podCIDR === undefined) node.setProblem('no podCIDR has been assigned to this node yet');
    // The engine takes long to prepare, and needs no range for it. Both end before the next attempt begins.
    const [range] = await allEnded([
      this.#setUpNetwork(signal),
      runtime.prepare(this.#options.readPauseArchive),
    ]);
    if (range === undefined) return;
    const leave = new AbortController();
    const connected = AbortSignal.any([signal, leave.signal]);
    const { promise: watching, resolve: onReady } = Promise.withResolvers<void>();
    const events = this.#readEvents(connected, onReady);
    try {
      await Promise.race([watching, events]);
      await this.#takeOver();
      log.info('connected to the container engine', { version });
      onConnected();
      node.setProblem(undefined);
      await Promise.race([events, this.#relistNowAndThen(connected)]);
      if (!signal.aborted) throw new RuntimeError('Unavailable', 'Docker closed the connection');
    } finally {
      leave.abort();
      await events.catch(() => undefined);
    }
  }

  /** Resolves to the node's range of addresses once it is used, or to undefined if the signal aborts. */
  async #setUpNetwork(signal: AbortSignal): Promise<string | undefined> {
    const { assigned, network } = this.#options;
    const podCIDR = await Promise.race([assigned.podCIDRKnown, aborted(signal)]);
    if (podCIDR !== undefined) await network.setUp(podCIDR);
    return podCIDR ?? undefined;
  }

  async #readEvents(signal: AbortSignal, onReady: () => void): Promise<void> {
    for await (const { id } of this.#options.runtime.events(signal, onReady)) void this.#follow(id, signal);
  }

  /**
   * Inspects a changed object, with retries. Never rejects: a change that was not inspected would leave a pod
   * as it is until the next relist.
   */
  async #follow(id: string, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const backoff = new Backoff(reconnect);
    const onError = (error: unknown) => {
      // A lost engine is logged once, by `run`, and everything is read again when it is back.
      const level = error instanceof RuntimeError && error.reason === 'Unavailable' ? 'debug' : 'warn';
      log[level]('cannot inspect a container; trying again', { container: id, error: errorMessage(error) });
    };
    await retry({ clock, signal, backoff, onError }, () => this.#objectChanged(id));
  }

  async #objectChanged(id: string): Promise<void> {
    const { cache, sandboxes } = this.#options;
    const uid = await cache.refresh(id);
    if (uid !== undefined) this.#podChanged(uid);
    else if (sandboxes.isReady(id)) await this.#dropDeadReady();
  }

  #podChanged(uid: string): void {
    const { workers, unknownPods } = this.#options;
    if (workers.has(uid)) workers.wake(uid);
    else unknownPods.end();
  }

  /** Reads the state of everything that runs here, before any decision about a pod is made. */
  async #takeOver(): Promise<void> {
    const { cache, sandboxes, workers, unknownPods, staticPods } = this.#options;
    await cache.relist();
    await sandboxes.adopt(cache.sandboxes());
    await cache.relist();
    staticPods.connected();
    workers.resume();
    unknownPods.end();
    sandboxes.refill();
  }

  async #dropDeadReady(): Promise<void> {
    const { cache, sandboxes } = this.#options;
    const running = cache.sandboxes().filter(({ state }) => state === 'running');
    await sandboxes.dropDead(new Set(running.map(({ id }) => id)));
    sandboxes.refill();
  }

  async #relistNowAndThen(signal: AbortSignal): Promise<void> {
    const { clock, cache } = this.#options;
    await keepDoing({ clock, signal, restMs: relistMs, restsFirst: true }, async () => {
      await this.#mendNetwork();
      for (const uid of await cache.relist()) this.#podChanged(uid);
      await this.#dropDeadReady();
    });
  }

  /** Repairs the pod network, because reloading a firewall removes its rules. */
  async #mendNetwork(): Promise<void> {
    const { network, assigned, log } = this.#options;
    try {
      if (assigned.podCIDR !== undefined) await network.setUp(assigned.podCIDR);
    } catch (error) {
      log.warn('cannot repair the pod network; trying again at the next relist', {
        error: errorMessage(error),
      });
    }
  }
}

/** Thrown when the container engine cannot be used and waiting does not help. */
export class UnsupportedRuntimeError extends Error {
  override readonly name = 'UnsupportedRuntimeError';
}

/** Throws UnsupportedRuntimeError for an engine older than this agent can use. */
export function requireApi(version: string, apiVersion: string): void {
  if (isAtLeast(apiVersion, oldestApi)) return;
  throw new UnsupportedRuntimeError(
    `Docker ${version} is too old: its API is ${apiVersion}, minik8s needs ${oldestApi} (Docker 20.10) or newer`,
  );
}
