/**
 * The node agent: makes what Docker runs on this machine match the pods that the API server assigns to this
 * node. Neither Docker nor the API server has to be reachable all the time. While the API server is
 * unreachable, the agent keeps the pods that were assigned before (also across its own restart). While Docker
 * is unreachable, the agent reports the node as not ready and continues as soon as Docker is back. The pods
 * keep running when the agent stops.
 */
import { aborted } from '../base/abort.ts';
import { errorMessage } from '../base/log.ts';
import type { ShutdownPeriods } from './node/plan/shutdown-phases.ts';
import { endAllPods } from './node/shutdown.ts';
import { type AgentParts, wireAgent } from './wiring/agent.ts';
import type { KubeletOptions } from './wiring/kubelet-options.ts';

export type { KubeletOptions } from './wiring/kubelet-options.ts';

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

export function createKubelet(options: KubeletOptions): Kubelet {
  let current: KubeletRun | undefined;
  return {
    run: async (signal) => {
      current = new KubeletRun(options);
      await current.run(signal);
    },
    shutDown: async (periods) => current?.endPods(periods),
  };
}

class KubeletRun {
  readonly #parts: AgentParts;

  constructor(options: KubeletOptions) {
    this.#parts = wireAgent(options);
  }

  async run(outer: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([outer, stop.signal]);
    await this.#load();
    const loops = this.#loops(signal);
    try {
      // A loop ends by itself only when it cannot continue; then all loops end.
      await Promise.race([Promise.all(loops), aborted(signal)]);
    } finally {
      stop.abort();
      await Promise.allSettled(loops);
      await this.#shutDown();
    }
  }

  /** Reads what earlier runs of the agent left on disk, before anything else works. */
  async #load(): Promise<void> {
    const { assigned, knownServices, nodeDevices, staticPods } = this.#parts;
    await Promise.all([assigned.load(), knownServices.load(), nodeDevices.load(), this.#removeDrafts()]);
    await staticPods.load();
  }

  #loops(signal: AbortSignal): readonly Promise<void>[] {
    const { assigned, node, engineConnection, staticPods, imageCollector } = this.#parts;
    const { featureParts, nodeServer, nodeDevices } = this.#parts;
    return [
      assigned.run(signal),
      this.#tendVolumes(signal),
      node.run(signal),
      engineConnection.run(signal),
      this.#untilAborted(staticPods.run(signal), signal),
      imageCollector.run(signal),
      ...featureParts.map((part) => this.#untilAborted(part.run?.(signal), signal)),
      nodeServer.run(signal),
      nodeDevices.run(signal),
    ];
  }

  async #removeDrafts(): Promise<void> {
    try {
      await this.#parts.localVolumes.removeDrafts();
    } catch (error) {
      const message = 'cannot remove folders of volumes that were begun; they are empty and harm nothing';
      this.#parts.log.warn(message, { error: errorMessage(error) });
    }
  }

  /**
   * Starts the volume chores and the features' work for members once this node belongs to the cluster: until
   * then the agent may not read volumes.
   */
  async #tendVolumes(signal: AbortSignal): Promise<void> {
    const { assigned, chores, featureParts } = this.#parts;
    await Promise.race([assigned.podCIDRKnown, aborted(signal)]);
    if (signal.aborted) return;
    const parts = featureParts.map((part) => part.runAsMember?.(signal));
    await Promise.all([chores.run(signal), ...parts]);
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
    const { node, workers, clock, log } = this.#parts;
    node.announceShutdown('node is shutting down');
    await endAllPods({ ...periods, workers, clock, log });
  }

  async #shutDown(): Promise<void> {
    const { workers, imageProviders, sources, certificates, mirrors, statuses } = this.#parts;
    const { assigned, knownServices, sandboxes, usage, informers, log } = this.#parts;
    await workers.stop();
    await Promise.all(imageProviders.map((provider) => provider.close()));
    sources.close();
    certificates.close();
    await mirrors.close();
    await statuses.close();
    const results = await Promise.allSettled([
      assigned.close(),
      knownServices.close(),
      sandboxes.close(),
      usage.close(),
      informers.stopped(),
    ]);
    for (const result of results) {
      if (result.status === 'rejected')
        log.warn('a part of the node agent did not stop cleanly', { error: errorMessage(result.reason) });
    }
  }
}
