/**
 * The sandboxes of this node's pods, and a pool of ready ones, because making a sandbox is most of the cost
 * of a pod's start. A sandbox belongs to a pod only once it has its address, so a pod's sandbox is always
 * complete; sandboxes without a pod are removed after a restart.
 */

import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { apart } from '../../base/tracing/current-span.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import type { PodReference } from './container-config.ts';
import type { PodNetwork } from './pod-network.ts';
import type { ContainerRuntime, SandboxState } from './runtime.ts';

export interface SandboxesOptions {
  readonly runtime: ContainerRuntime;
  readonly network: PodNetwork;
  /** Number of sandboxes that are kept ready; 0 for none. */
  readonly poolSize: number;
  /** Returns true for a pod to which other pods may not connect. */
  readonly isClosed: (pod: Pod) => boolean;
  readonly log: Logger;
}

export class Sandboxes {
  readonly #options: SandboxesOptions;
  readonly #ready: SandboxState[] = [];
  #refilling: Promise<void> | undefined;
  #closed = false;

  constructor(options: SandboxesOptions) {
    this.#options = options;
  }

  /** Adopts the sandboxes that an earlier run of the agent, or of the engine, left. */
  async adopt(found: readonly SandboxState[]): Promise<void> {
    const { network } = this.#options;
    for (const { ip } of found) if (ip !== undefined) network.adopt(ip);
    await this.dropDead(new Set(found.filter(({ state }) => state === 'running').map(({ id }) => id)));
    for (const sandbox of found) if (!sandbox.pod && !this.isReady(sandbox.id)) await this.remove(sandbox);
  }

  /**
   * Resolves with a sandbox that has an address and has been assigned to the pod. It may have ended since;
   * the next inspection notices that.
   */
  async acquire(pod: Pod, attempt: number, hostname: string): Promise<Pick<SandboxState, 'id' | 'ip'>> {
    const { uid, name, namespace = '' } = pod.metadata;
    const reference = { uid, name, namespace };
    if (!pod.spec.hostNetwork) {
      for (let ready = this.#ready.shift(); ready; ready = this.#ready.shift()) {
        if (await this.#assignReady(ready, pod, reference, attempt)) return ready;
      }
    }
    const made = pod.spec.hostNetwork
      ? await this.#options.runtime.runSandbox({ ip: undefined, hostname: undefined })
      : await this.#make(hostname);
    try {
      await this.#close(made, pod);
      await this.#options.runtime.assignSandbox(made.id, reference, attempt);
      return made;
    } catch (error) {
      await this.remove(made);
      throw error;
    }
  }

  /** Removes a sandbox. Idempotent. The address is released last, when nothing can still use it. */
  async remove({ id, ip }: Pick<SandboxState, 'id' | 'ip'>): Promise<void> {
    const { runtime, network } = this.#options;
    await runtime.remove(id);
    if (ip === undefined) return;
    await network.detach(ip);
    network.release(ip);
  }

  /** Returns true when a sandbox waits in the pool. */
  isReady(id: string): boolean {
    return this.#ready.some((sandbox) => sandbox.id === id);
  }

  /** Removes ready sandboxes that no longer run. */
  async dropDead(running: ReadonlySet<string>): Promise<void> {
    for (const sandbox of [...this.#ready]) {
      const index = this.#ready.indexOf(sandbox);
      if (running.has(sandbox.id) || index < 0) continue;
      this.#ready.splice(index, 1);
      await this.remove(sandbox);
    }
  }

  /** Starts creating missing sandboxes, one after the other; failures are retried at the next call. */
  refill(): void {
    if (this.#refilling || this.#closed) return;
    this.#refilling = apart(() => this.#fill()).finally(() => {
      this.#refilling = undefined;
    });
  }

  /** Removes the ready sandboxes; sandboxes of pods stay. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#refilling;
    await Promise.all(this.#ready.splice(0).map((sandbox) => this.remove(sandbox)));
  }

  async #fill(): Promise<void> {
    try {
      while (!this.#closed && this.#ready.length < this.#options.poolSize) {
        this.#ready.push(await this.#make(undefined));
      }
    } catch (error) {
      this.#options.log.warn('cannot create a spare sandbox', { error: errorMessage(error) });
    }
  }

  /** Resolves with false when the sandbox has been removed. */
  async #assignReady(
    ready: SandboxState,
    pod: Pod,
    reference: PodReference,
    attempt: number,
  ): Promise<boolean> {
    try {
      await this.#close(ready, pod);
      await this.#options.runtime.assignSandbox(ready.id, reference, attempt);
      return true;
    } catch (error) {
      await this.remove(ready);
      if (error instanceof RuntimeError && error.reason === 'NotFound') return false;
      throw error;
    }
  }

  /**
   * Closes the network of a closed pod before the sandbox is assigned to the pod: if the agent ends in
   * between, the sandbox belongs to no pod and is removed.
   */
  async #close({ ip }: SandboxState, pod: Pod): Promise<void> {
    if (ip !== undefined && this.#options.isClosed(pod)) await this.#options.network.close(ip);
  }

  async #make(hostname: string | undefined): Promise<SandboxState> {
    const { runtime, network } = this.#options;
    const ip = network.allocate();
    try {
      const sandbox = await runtime.runSandbox({ ip, hostname });
      try {
        await network.attach(ip, sandbox.pid);
        return sandbox;
      } catch (error) {
        await runtime.remove(sandbox.id);
        await network.detach(ip);
        throw error;
      }
    } catch (error) {
      network.release(ip);
      throw error;
    }
  }
}
